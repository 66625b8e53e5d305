// Package clock lets the rest of the module ask for the time without asking
// the machine. Production code uses System; tests use Manual.
package clock

import (
	"slices"
	"sync"
	"time"
)

// Clock tells the time and waits for it.
type Clock interface {
	// Now is the current instant.
	Now() time.Time
	// After returns a channel that receives once d has gone by.
	After(d time.Duration) <-chan time.Time
}

// System is the clock of the machine.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// After implements Clock.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Manual stands still until it is told to move. It is safe for use by several
// goroutines.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	waiting []waiter
}

type waiter struct {
	at time.Time
	ch chan time.Time
}

// NewManual returns a clock that stands at start.
func NewManual(start time.Time) *Manual {
	return &Manual{now: start}
}

// Now implements Clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// After implements Clock. A wait of zero or less is over at once.
func (m *Manual) After(d time.Duration) <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d <= 0 {
		ch <- m.now
		return ch
	}
	m.waiting = append(m.waiting, waiter{at: m.now.Add(d), ch: ch})
	return ch
}

// Advance moves the clock forward by d and wakes whoever waited for an instant
// that has now come, the earliest first.
func (m *Manual) Advance(d time.Duration) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d < 0 {
		panic("clock: Advance by a negative duration")
	}
	m.now = m.now.Add(d)
	slices.SortStableFunc(m.waiting, func(a, b waiter) int { return a.at.Compare(b.at) })
	rest := m.waiting[:0]
	for _, w := range m.waiting {
		if w.at.After(m.now) {
			rest = append(rest, w)
			continue
		}
		w.ch <- m.now
	}
	m.waiting = rest
	return m.now
}

// Waiting is the number of waits that are not over.
func (m *Manual) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}
