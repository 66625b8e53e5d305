package metrics

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Registry holds counters and histograms by name and label. Asking for one
// that is not there makes it.
type Registry struct {
	mu         sync.Mutex
	counters   map[key]*Counter
	histograms map[key]*Histogram
}

type key struct {
	name, label string
}

// Bounds of the histograms that a registry makes, in seconds.
var Bounds = []float64{0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{counters: map[key]*Counter{}, histograms: map[key]*Histogram{}}
}

// Counter returns the counter of a name and label.
func (r *Registry) Counter(name, label string) *Counter {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.counters[key{name, label}]
	if !ok {
		c = &Counter{}
		r.counters[key{name, label}] = c
	}
	return c
}

// Histogram returns the histogram of a name and label.
func (r *Registry) Histogram(name, label string) *Histogram {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.histograms[key{name, label}]
	if !ok {
		h = NewHistogram(Bounds...)
		r.histograms[key{name, label}] = h
	}
	return h
}

// WriteText writes everything as lines, sorted by name and label:
//
//	jobs_done{mail} 12
//	job_seconds{mail} count=12 sum=3.5 p50=0.1 p95=2
func (r *Registry) WriteText(w io.Writer) error {
	r.mu.Lock()
	lines := make(map[key]string, len(r.counters)+len(r.histograms))
	for k, c := range r.counters {
		lines[k] = fmt.Sprint(c.Value())
	}
	for k, h := range r.histograms {
		s := h.Snapshot()
		lines[k] = fmt.Sprintf("count=%d sum=%g p50=%g p95=%g", s.Total(), s.Sum, s.Quantile(0.5), s.Quantile(0.95))
	}
	r.mu.Unlock()
	keys := make([]key, 0, len(lines))
	for k := range lines {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.label, b.label))
	})
	for _, k := range keys {
		if _, err := fmt.Fprintf(w, "%s{%s} %s\n", k.name, k.label, lines[k]); err != nil {
			return err
		}
	}
	return nil
}
