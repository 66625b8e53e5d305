package queue

import (
	"time"

	"example.org/millrace/backoff"
	"example.org/millrace/clock"
	"example.org/millrace/limit"
	"example.org/millrace/metrics"
)

// DefaultLease is how long a worker may keep a job when nothing else is said.
const DefaultLease = 5 * time.Minute

// DefaultBackoff is the policy of a queue that was given none.
var DefaultBackoff = backoff.Exponential{Base: time.Second, Factor: 2, Max: 10 * time.Minute}

// Option changes a queue while it is made.
type Option func(*Queue)

// WithClock makes the queue ask another clock than that of the machine.
func WithClock(c clock.Clock) Option { return func(q *Queue) { q.clock = c } }

// WithBackoff sets how long failed jobs wait.
func WithBackoff(p backoff.Policy) Option { return func(q *Queue) { q.backoff = p } }

// WithLimiter bounds how fast the queue hands out jobs.
func WithLimiter(l limit.Limiter) Option { return func(q *Queue) { q.limiter = l } }

// WithLease sets how long a worker may keep a job.
func WithLease(d time.Duration) Option { return func(q *Queue) { q.lease = d } }

// WithMetrics makes the queue count what it does.
func WithMetrics(r *metrics.Registry) Option { return func(q *Queue) { q.metrics = r } }
