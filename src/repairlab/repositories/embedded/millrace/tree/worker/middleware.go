package worker

import (
	"context"
	"fmt"
	"time"

	"example.org/millrace/clock"
	"example.org/millrace/job"
	"example.org/millrace/metrics"
	"example.org/millrace/queue"
)

// Middleware wraps a handler.
type Middleware func(Handler) Handler

// Wrap puts middleware around a handler; the first one given is outermost.
func Wrap(h Handler, layers ...Middleware) Handler {
	for i := len(layers) - 1; i >= 0; i-- {
		h = layers[i](h)
	}
	return h
}

// Recover turns a panic of a handler into an error. A handler that panics is
// not likely to do better next time, so the error is permanent when final is
// set.
func Recover(final bool) Middleware {
	return func(next Handler) Handler {
		return HandlerFunc(func(ctx context.Context, j job.Job) (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = fmt.Errorf("worker: %s panicked: %v", j.Kind, cause)
					if final {
						err = queue.Permanent(err)
					}
				}
			}()
			return next.Handle(ctx, j)
		})
	}
}

// Timeout gives each job a deadline. The handler has to watch its context.
func Timeout(d time.Duration) Middleware {
	return func(next Handler) Handler {
		return HandlerFunc(func(ctx context.Context, j job.Job) error {
			ctx, cancel := context.WithTimeoutCause(ctx, d,
				fmt.Errorf("worker: %s took longer than %v", j.Kind, d))
			defer cancel()
			if err := next.Handle(ctx, j); err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return err
			}
			return nil
		})
	}
}

// Observe counts jobs by kind and measures how long they take.
func Observe(r *metrics.Registry, c clock.Clock) Middleware {
	return func(next Handler) Handler {
		return HandlerFunc(func(ctx context.Context, j job.Job) error {
			begun := c.Now()
			err := next.Handle(ctx, j)
			r.Histogram("job_seconds", j.Kind).Observe(c.Now().Sub(begun).Seconds())
			if err != nil {
				r.Counter("job_errors", j.Kind).Add(1)
			}
			return err
		})
	}
}

// OnlyFirst lets a handler see a job once: later attempts succeed without it.
// It suits work that must not be done twice, such as sending mail.
func OnlyFirst() Middleware {
	return func(next Handler) Handler {
		return HandlerFunc(func(ctx context.Context, j job.Job) error {
			if j.Attempts > 1 {
				return nil
			}
			return next.Handle(ctx, j)
		})
	}
}
