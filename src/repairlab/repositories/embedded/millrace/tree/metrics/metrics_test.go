package metrics

import (
	"slices"
	"strings"
	"testing"
)

func TestCounter(t *testing.T) {
	var c Counter
	c.Add(3)
	c.Add(-2)
	c.Add(0)
	if c.Value() != 3 {
		t.Fatalf("Value = %d", c.Value())
	}
}

func TestHistogramBuckets(t *testing.T) {
	h := NewHistogram(10, 1, 10)
	for _, v := range []float64{0.5, 1, 2, 10, 11} {
		h.Observe(v)
	}
	s := h.Snapshot()
	if !slices.Equal(s.Bounds, []float64{1, 10}) || !slices.Equal(s.Counts, []int64{2, 2, 1}) {
		t.Fatalf("Snapshot = %+v", s)
	}
	if s.Total() != 5 || s.Sum != 24.5 {
		t.Fatalf("Total %d, Sum %g", s.Total(), s.Sum)
	}
}

func TestQuantile(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		share  float64
		want   float64
	}{
		{"no values", nil, 0.5, 0},
		{"median", []float64{0.5, 0.6, 5}, 0.5, 1},
		{"high", []float64{0.5, 0.6, 5}, 0.95, 10},
		{"above all bounds", []float64{50}, 0.5, 10},
		{"lowest", []float64{5}, 0, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := NewHistogram(1, 10)
			for _, v := range tt.values {
				h.Observe(v)
			}
			if got := h.Snapshot().Quantile(tt.share); got != tt.want {
				t.Fatalf("Quantile = %g, want %g", got, tt.want)
			}
		})
	}
}

func TestRegistryGivesTheSameOne(t *testing.T) {
	r := NewRegistry()
	r.Counter("a", "x").Add(1)
	r.Counter("a", "x").Add(1)
	if got := r.Counter("a", "x").Value(); got != 2 {
		t.Fatalf("Value = %d", got)
	}
	if got := r.Counter("a", "y").Value(); got != 0 {
		t.Fatalf("another label: %d", got)
	}
}

func TestWriteText(t *testing.T) {
	r := NewRegistry()
	r.Counter("jobs_done", "mail").Add(2)
	r.Counter("jobs_done", "a").Add(1)
	r.Histogram("job_seconds", "mail").Observe(0.05)
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := "job_seconds{mail} count=1 sum=0.05 p50=0.1 p95=0.1\njobs_done{a} 1\njobs_done{mail} 2\n"
	if b.String() != want {
		t.Fatalf("got\n%swant\n%s", b.String(), want)
	}
}
