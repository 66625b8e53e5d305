// Package backoff says how long a failed job waits before its next attempt.
package backoff

import (
	"math"
	"time"
)

// Policy turns the number of attempts made so far (1 after the first failure)
// into a delay. A policy keeps no state and may be shared.
type Policy interface {
	Delay(attempt int) time.Duration
}

// Fixed waits the same time after every failure.
type Fixed time.Duration

// Delay implements Policy.
func (f Fixed) Delay(int) time.Duration { return time.Duration(f) }

// Linear waits Step after the first failure, twice Step after the second, and
// so on up to Max. A Max of zero means no bound.
type Linear struct {
	Step, Max time.Duration
}

// Delay implements Policy.
func (l Linear) Delay(attempt int) time.Duration {
	attempt = max(attempt, 1)
	if l.Step > 0 && time.Duration(attempt) > math.MaxInt64/l.Step {
		return bounded(math.MaxInt64, l.Max)
	}
	return bounded(time.Duration(attempt)*l.Step, l.Max)
}

// Exponential waits Base after the first failure and multiplies the wait by
// Factor after each further one, up to Max. A Max of zero means no bound.
type Exponential struct {
	Base   time.Duration
	Factor int
	Max    time.Duration
}

// Delay implements Policy.
func (e Exponential) Delay(attempt int) time.Duration {
	factor := time.Duration(max(e.Factor, 1))
	delay := e.Base
	for range attempt - 1 {
		if e.Max > 0 && delay >= e.Max {
			return e.Max
		}
		if delay > math.MaxInt64/factor {
			return bounded(math.MaxInt64, e.Max)
		}
		delay *= factor
	}
	return bounded(delay, e.Max)
}

// Steps takes its delays from a list; the last one serves all later attempts.
type Steps []time.Duration

// Delay implements Policy.
func (s Steps) Delay(attempt int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[min(max(attempt, 1), len(s))-1]
}

// Jitter spreads the delays of another policy, so that jobs that failed
// together do not come back together. Share is the part of the delay that is
// drawn at random, from 0 to 1.
type Jitter struct {
	Policy Policy
	Share  float64
	// Random returns a number in [0, 1).
	Random func() float64
}

// Delay implements Policy. The result never exceeds that of the inner policy.
func (j Jitter) Delay(attempt int) time.Duration {
	whole := j.Policy.Delay(attempt)
	if j.Share <= 0 || j.Random == nil {
		return whole
	}
	drawn := float64(whole) * min(j.Share, 1) * j.Random()
	return whole - time.Duration(drawn)
}

func bounded(d, limit time.Duration) time.Duration {
	if limit > 0 && d > limit {
		return limit
	}
	return d
}
