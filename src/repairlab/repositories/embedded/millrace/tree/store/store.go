// Package store keeps jobs. Memory keeps them for the life of the process;
// package journal, below, keeps them on disk.
package store

import (
	"context"
	"errors"
	"time"

	"example.org/millrace/job"
)

var (
	// ErrNotFound says that no job has the id.
	ErrNotFound = errors.New("store: no such job")
	// ErrEmpty says that no job of the queue is due.
	ErrEmpty = errors.New("store: nothing is due")
	// ErrExists says that the id is taken.
	ErrExists = errors.New("store: the id is taken")
	// ErrDuplicate says that a live job has the unique key.
	ErrDuplicate = errors.New("store: the unique key is in use")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store: closed")
)

// Store keeps jobs and hands them out. Its methods may be called by several
// goroutines. Jobs that go in or come out are copies.
type Store interface {
	// Put takes a new job. It fails with ErrExists when the id is known, and
	// with ErrDuplicate when a job with the same unique key has not ended.
	Put(ctx context.Context, j job.Job) error

	// Get returns a job by its id.
	Get(ctx context.Context, id job.ID) (job.Job, error)

	// Peek returns the job that Claim would hand out, and changes nothing.
	Peek(ctx context.Context, queue string, now time.Time) (job.Job, error)

	// Claim hands out the first due job of a queue: the one with the highest
	// priority and, among equals, the one that has been due for longest. The
	// job is running from then on, counts one attempt more, and falls back
	// when its lease is over.
	Claim(ctx context.Context, queue string, now time.Time, lease time.Duration) (job.Job, error)

	// Complete ends a running job as done.
	Complete(ctx context.Context, id job.ID, now time.Time) error

	// Retry makes a running job pending again, due at runAt. The reason is
	// kept as the job's last error.
	Retry(ctx context.Context, id job.ID, runAt time.Time, reason string) error

	// Bury ends a job as dead.
	Bury(ctx context.Context, id job.ID, now time.Time, reason string) error

	// Cancel ends a job that nobody wants any more.
	Cancel(ctx context.Context, id job.ID, now time.Time) error

	// Expire makes the jobs pending whose lease is over, and counts them.
	Expire(ctx context.Context, now time.Time) (int, error)

	// List returns the jobs that a filter lets through, the oldest first.
	List(ctx context.Context, f Filter) ([]job.Job, error)

	// Close releases what the store holds. Later calls fail with ErrClosed.
	Close() error
}

// Counts is the number of jobs in each state.
type Counts map[job.State]int

// Count asks a store for all jobs of a queue and counts them by state. The
// empty queue stands for all queues.
func Count(ctx context.Context, s Store, queue string) (Counts, error) {
	jobs, err := s.List(ctx, Filter{Queue: queue})
	if err != nil {
		return nil, err
	}
	counts := make(Counts, len(job.States))
	for _, j := range jobs {
		counts[j.State]++
	}
	return counts, nil
}

// Live is the number of jobs that have not ended.
func (c Counts) Live() int {
	return c[job.Pending] + c[job.Running]
}
