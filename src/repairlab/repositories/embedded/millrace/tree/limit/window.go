package limit

import (
	"fmt"
	"sync"
	"time"
)

// Window admits at most Count units within any stretch of length Per. Unlike a
// Bucket it never admits a burst across the seam of two periods; it pays for
// that with one stored instant a unit.
type Window struct {
	mu    sync.Mutex
	rate  Rate
	taken []time.Time // a ring, the oldest at head
	head  int
	used  int
}

// NewWindow returns an empty window.
func NewWindow(rate Rate) (*Window, error) {
	if rate.Count < 1 || rate.Per <= 0 {
		return nil, fmt.Errorf("limit: a window cannot admit %v", rate)
	}
	return &Window{rate: rate, taken: make([]time.Time, rate.Count)}, nil
}

// Allow implements Limiter.
func (w *Window) Allow(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refill(now)
	if w.used == len(w.taken) {
		return false
	}
	w.taken[(w.head+w.used)%len(w.taken)] = now
	w.used++
	return true
}

// Next implements Limiter.
func (w *Window) Next(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refill(now)
	if w.used < len(w.taken) {
		return 0
	}
	return w.rate.Per - now.Sub(w.taken[w.head])
}

// Used is the number of units taken within the window that ends at now.
func (w *Window) Used(now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refill(now)
	return w.used
}

// refill forgets the units that have left the window.
func (w *Window) refill(now time.Time) {
	for w.used > 0 && now.Sub(w.taken[w.head]) >= w.rate.Per {
		w.taken[w.head] = time.Time{}
		w.head = (w.head + 1) % len(w.taken)
		w.used--
	}
}
