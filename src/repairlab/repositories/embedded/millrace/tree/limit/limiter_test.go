package limit

import (
	"slices"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	tests := []struct {
		name, text string
		want       Rate
		text2      string
	}{
		{"short unit", "5/s", Rate{5, time.Second}, "5/s"},
		{"long unit", "100 / minute", Rate{100, time.Minute}, "100/m"},
		{"hour", "1/h", Rate{1, time.Hour}, "1/h"},
		{"several seconds", "3/10s", Rate{3, 10 * time.Second}, "3/10s"},
		{"day", "2/day", Rate{2, 24 * time.Hour}, "2/24h0m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRate(tt.text)
			if err != nil || got != tt.want {
				t.Fatalf("ParseRate = %v, %v", got, err)
			}
			if got.String() != tt.text2 {
				t.Fatalf("String = %q, want %q", got, tt.text2)
			}
		})
	}
}

func TestParseRateRefuses(t *testing.T) {
	tests := []struct{ name, text string }{
		{"no slash", "5"}, {"zero", "0/s"}, {"negative", "-1/s"}, {"fraction", "0.5/s"},
		{"no unit", "5/"}, {"unknown unit", "5/fortnight"}, {"negative time", "5/-1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := ParseRate(tt.text); err == nil {
				t.Fatalf("ParseRate(%q) = %v", tt.text, got)
			}
		})
	}
}

func TestRateInterval(t *testing.T) {
	if got := (Rate{4, time.Second}).Interval(); got != 250*time.Millisecond {
		t.Fatalf("Interval = %v", got)
	}
	if got := (Rate{5, 2}).Interval(); got != 1 {
		t.Fatalf("Interval of a very high rate = %v", got)
	}
}

func TestAllTakesFromEachOrNone(t *testing.T) {
	wide := newBucket(t, "1/s", 5)
	narrow := newBucket(t, "1/m", 1)
	both := All{wide, narrow}
	if !both.Allow(start) {
		t.Fatal("the first unit was refused")
	}
	if both.Allow(start) {
		t.Fatal("the second unit was admitted")
	}
	if got := wide.Tokens(start); got != 4 {
		t.Fatalf("the refused unit was taken from the wide bucket: %d left", got)
	}
	if got := both.Next(start); got != time.Minute {
		t.Fatalf("Next = %v", got)
	}
}

func TestUnlimited(t *testing.T) {
	var u Unlimited
	if !u.Allow(start) || u.Next(start) != 0 {
		t.Fatal("Unlimited has a limit")
	}
}

func TestKeyed(t *testing.T) {
	k := NewKeyed(func() Limiter { return newBucket(t, "1/m", 1) }, time.Hour)
	if !k.Allow("a", start) || k.Allow("a", start) {
		t.Fatal("key a: one unit, then none")
	}
	if !k.Allow("b", start.Add(time.Second)) {
		t.Fatal("key b suffers from key a")
	}
	if got := k.Keys(); !slices.Equal(got, []string{"b", "a"}) {
		t.Fatalf("Keys = %v", got)
	}
	if got := k.Next("a", start.Add(20*time.Minute)); got != 0 {
		t.Fatalf("Next = %v", got)
	}
	if got := k.Sweep(start.Add(time.Hour + time.Second)); got != 1 {
		t.Fatalf("Sweep dropped %d", got)
	}
	if got := k.Keys(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("Keys after Sweep = %v", got)
	}
}
