package limit

import (
	"fmt"
	"sync"
	"time"
)

// Bucket is a token bucket. It begins full, gains one token each interval up
// to its size, and spends one token on each admitted unit. It therefore admits
// bursts of up to its size and, over a long time, no more than its rate.
type Bucket struct {
	mu       sync.Mutex
	interval time.Duration
	size     int
	tokens   int
	last     time.Time
}

// NewBucket returns a full bucket that gains tokens at the given rate and
// holds at most size of them.
func NewBucket(rate Rate, size int) (*Bucket, error) {
	if rate.Count < 1 || rate.Per <= 0 {
		return nil, fmt.Errorf("limit: a bucket cannot fill at %v", rate)
	}
	if size < 1 {
		return nil, fmt.Errorf("limit: a bucket cannot hold %d tokens", size)
	}
	return &Bucket{interval: rate.Interval(), size: size, tokens: size}, nil
}

// Allow implements Limiter.
func (b *Bucket) Allow(now time.Time) bool {
	return b.AllowN(now, 1)
}

// AllowN takes n tokens at once, or none. More than the bucket's size can
// never be had.
func (b *Bucket) AllowN(now time.Time, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if n < 0 || n > b.tokens {
		return false
	}
	b.tokens -= n
	return true
}

// Next implements Limiter.
func (b *Bucket) Next(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.tokens > 0 {
		return 0
	}
	return max(b.interval-now.Sub(b.last), 0)
}

// Tokens is the number of tokens at now.
func (b *Bucket) Tokens(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	return b.tokens
}

// Drain empties the bucket, for example after the far side said that it is
// overloaded.
func (b *Bucket) Drain(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = 0
	b.last = now
}

// refill adds the tokens gained since the bucket was last looked at.
func (b *Bucket) refill(now time.Time) {
	if b.last.IsZero() {
		b.last = now
		return
	}
	elapsed := now.Sub(b.last)
	if elapsed <= 0 {
		return
	}
	gained := elapsed / b.interval
	if room := time.Duration(b.size - b.tokens); gained > room {
		gained = room
	}
	b.tokens += int(gained)
	b.last = now
}
