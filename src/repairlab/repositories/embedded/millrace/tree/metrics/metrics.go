// Package metrics counts what a program does, for people to look at.
package metrics

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Counter only goes up.
type Counter struct {
	value atomic.Int64
}

// Add adds n; a negative n is ignored.
func (c *Counter) Add(n int) {
	if n > 0 {
		c.value.Add(int64(n))
	}
}

// Value is the sum so far.
func (c *Counter) Value() int64 { return c.value.Load() }

// Histogram counts values by size. A bucket holds the values up to and with
// its bound; the last bucket holds the rest.
type Histogram struct {
	mu     sync.Mutex
	bounds []float64
	counts []int64
	sum    float64
}

// NewHistogram returns an empty histogram. The bounds may come in any order.
func NewHistogram(bounds ...float64) *Histogram {
	sorted := slices.Clone(bounds)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return &Histogram{bounds: sorted, counts: make([]int64, len(sorted)+1)}
}

// Observe counts one value.
func (h *Histogram) Observe(value float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i]++
	h.sum += value
}

// Snapshot is a histogram at one moment. Counts has one entry more than Bounds.
type Snapshot struct {
	Bounds []float64
	Counts []int64
	Sum    float64
}

// Snapshot copies the state of the histogram.
func (h *Histogram) Snapshot() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Snapshot{Bounds: slices.Clone(h.bounds), Counts: slices.Clone(h.counts), Sum: h.sum}
}

// Total is the number of values.
func (s Snapshot) Total() int64 {
	var n int64
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Quantile is the bound of the bucket that holds the given share of the
// values, from 0 to 1. Values above all bounds count as the highest bound. A
// histogram without values or without bounds has the quantile 0.
func (s Snapshot) Quantile(share float64) float64 {
	total := s.Total()
	if total == 0 || len(s.Bounds) == 0 {
		return 0
	}
	rank := share * float64(total)
	var seen int64
	for i, bound := range s.Bounds {
		seen += s.Counts[i]
		if float64(seen) >= rank && seen > 0 {
			return bound
		}
	}
	return s.Bounds[len(s.Bounds)-1]
}
