package queue

import (
	"errors"
	"fmt"
	"time"
)

// ErrLimited says that a job is due and that the limiter holds it back. Its
// Wait is how long to wait before it is worth asking again.
type ErrLimited struct {
	Wait time.Duration
}

func (e *ErrLimited) Error() string {
	return fmt.Sprintf("queue: limited for another %v", e.Wait)
}

// Permanent marks an error that no further attempt can repair. A job that
// fails with it is buried at once.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ err error }

func (p *permanent) Error() string { return p.err.Error() }
func (p *permanent) Unwrap() error { return p.err }

// IsPermanent reports whether err was marked by Permanent, at any depth.
func IsPermanent(err error) bool {
	var p *permanent
	return errors.As(err, &p)
}

// RetryAfter gives an error the delay after which the job is to be tried
// again, in place of what the queue's policy says.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfter{err, max(delay, 0)}
}

type retryAfter struct {
	err   error
	delay time.Duration
}

func (r *retryAfter) Error() string { return r.err.Error() }
func (r *retryAfter) Unwrap() error { return r.err }

// Delay returns what RetryAfter put on an error, at any depth.
func Delay(err error) (time.Duration, bool) {
	var r *retryAfter
	if errors.As(err, &r) {
		return r.delay, true
	}
	return 0, false
}
