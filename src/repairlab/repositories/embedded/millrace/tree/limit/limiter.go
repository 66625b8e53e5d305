// Package limit decides how much work may start within a time.
//
// No limiter here reads a clock: the caller says what time it is. The instants
// passed to one limiter should not go backwards; when they do, the limiter
// behaves as if the time stood still.
package limit

import "time"

// Limiter admits or refuses one unit of work at a time.
type Limiter interface {
	// Allow takes one unit, if one is to be had at now.
	Allow(now time.Time) bool
	// Next is how long after now a unit will be to be had; zero means at once.
	// It takes nothing.
	Next(now time.Time) time.Duration
}

// Unlimited admits everything.
type Unlimited struct{}

// Allow implements Limiter.
func (Unlimited) Allow(time.Time) bool { return true }

// Next implements Limiter.
func (Unlimited) Next(time.Time) time.Duration { return 0 }

// All admits work that every one of its limiters admits.
//
// A unit is taken from each of them or from none: All asks Next of all before
// it asks Allow of any.
type All []Limiter

// Allow implements Limiter.
func (a All) Allow(now time.Time) bool {
	if a.Next(now) > 0 {
		return false
	}
	for _, l := range a {
		if !l.Allow(now) {
			return false
		}
	}
	return true
}

// Next implements Limiter: the longest wait of any of the limiters.
func (a All) Next(now time.Time) time.Duration {
	var wait time.Duration
	for _, l := range a {
		wait = max(wait, l.Next(now))
	}
	return wait
}
