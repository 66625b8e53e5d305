package limit

import (
	"testing"
	"time"
)

var start = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)

func newBucket(t *testing.T, rate string, size int) *Bucket {
	t.Helper()
	r, err := ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBucket(r, size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNewBucketRefuses(t *testing.T) {
	tests := []struct {
		name string
		rate Rate
		size int
	}{
		{"no size", Rate{1, time.Second}, 0},
		{"no count", Rate{0, time.Second}, 1},
		{"no time", Rate{1, 0}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if b, err := NewBucket(tt.rate, tt.size); err == nil {
				t.Fatalf("NewBucket = %+v", b)
			}
		})
	}
}

func TestBucketBurst(t *testing.T) {
	b := newBucket(t, "1/s", 3)
	for i := range 3 {
		if !b.Allow(start) {
			t.Fatalf("unit %d of the burst was refused", i+1)
		}
	}
	if b.Allow(start) {
		t.Fatal("a fourth unit was admitted")
	}
}

func TestBucketRefill(t *testing.T) {
	// Each case empties a bucket of four tokens at 2/s and looks at it again
	// at the given times after that.
	tests := []struct {
		name  string
		looks []time.Duration
		want  int
	}{
		{"at once", []time.Duration{0}, 0},
		{"before one interval", []time.Duration{499 * time.Millisecond}, 0},
		{"one interval", []time.Duration{500 * time.Millisecond}, 1},
		{"each interval", []time.Duration{500 * time.Millisecond, time.Second}, 2},
		{"several intervals", []time.Duration{1500 * time.Millisecond}, 3},
		{"never above its size", []time.Duration{time.Hour}, 4},
		{"time going backwards", []time.Duration{500 * time.Millisecond, 0}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBucket(t, "2/s", 4)
			if !b.AllowN(start, 4) {
				t.Fatal("the bucket was not full at the start")
			}
			got := 0
			for _, look := range tt.looks {
				got = b.Tokens(start.Add(look))
			}
			if got != tt.want {
				t.Fatalf("tokens = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestBucketAllowN(t *testing.T) {
	b := newBucket(t, "1/s", 3)
	if b.AllowN(start, 4) {
		t.Fatal("more than the size was admitted")
	}
	if b.AllowN(start, -1) {
		t.Fatal("a negative number was admitted")
	}
	if !b.AllowN(start, 2) || b.AllowN(start, 2) {
		t.Fatal("two of three, then two of one")
	}
	if got := b.Tokens(start); got != 1 {
		t.Fatalf("a refused AllowN took tokens: %d left", got)
	}
}

func TestBucketNext(t *testing.T) {
	b := newBucket(t, "1/s", 1)
	if got := b.Next(start); got != 0 {
		t.Fatalf("Next of a full bucket = %v", got)
	}
	b.Allow(start)
	if got := b.Next(start); got != time.Second {
		t.Fatalf("Next of an empty bucket = %v", got)
	}
	if got := b.Next(start.Add(time.Second)); got != 0 {
		t.Fatalf("Next after one interval = %v", got)
	}
}

func TestBucketDrain(t *testing.T) {
	b := newBucket(t, "1/s", 5)
	b.Drain(start)
	if b.Allow(start) {
		t.Fatal("a drained bucket admitted a unit")
	}
	if !b.Allow(start.Add(time.Second)) {
		t.Fatal("a drained bucket did not recover")
	}
}
