// Package queue is the front of the module: it takes jobs, hands them out at
// the pace that was set, and decides what becomes of those that fail.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/millrace/backoff"
	"example.org/millrace/clock"
	"example.org/millrace/job"
	"example.org/millrace/limit"
	"example.org/millrace/metrics"
	"example.org/millrace/store"
)

// Queue hands out the jobs of one name. Several queues may share a store.
type Queue struct {
	name    string
	store   store.Store
	clock   clock.Clock
	backoff backoff.Policy
	limiter limit.Limiter
	lease   time.Duration
	metrics *metrics.Registry
	ids     job.Generator
}

// New returns the queue of the given name over a store.
func New(name string, s store.Store, options ...Option) *Queue {
	q := &Queue{
		name:    name,
		store:   s,
		clock:   clock.System{},
		backoff: DefaultBackoff,
		limiter: limit.Unlimited{},
		lease:   DefaultLease,
		metrics: metrics.NewRegistry(),
	}
	for _, option := range options {
		option(q)
	}
	return q
}

// Name is the name of the queue.
func (q *Queue) Name() string { return q.name }

// Enqueue puts a job on the queue and returns it as it was stored. A job with
// a unique key that is in use fails with store.ErrDuplicate.
func (q *Queue) Enqueue(ctx context.Context, j job.Job) (job.Job, error) {
	now := q.clock.Now()
	j = j.Clone()
	j.Queue = q.name
	j.Created = now
	if j.RunAt.IsZero() {
		j.RunAt = now
	}
	for {
		j.ID = q.ids.Next(now)
		err := q.store.Put(ctx, j)
		if err == nil {
			q.count("enqueued")
			return j, nil
		}
		// Another queue over the same store may have made this id.
		if errors.Is(err, store.ErrExists) {
			continue
		}
		if errors.Is(err, store.ErrDuplicate) {
			q.count("refused")
		}
		return job.Job{}, err
	}
}

// Claim hands out the next job. It fails with store.ErrEmpty when none is due
// and with an *ErrLimited when one is due that the limiter holds back. Jobs
// whose lease is over are taken back first.
func (q *Queue) Claim(ctx context.Context) (job.Job, error) {
	now := q.clock.Now()
	expired, err := q.store.Expire(ctx, now)
	if err != nil {
		return job.Job{}, err
	}
	if expired > 0 {
		q.metrics.Counter("jobs_expired", q.name).Add(expired)
	}
	if _, err := q.store.Peek(ctx, q.name, now); err != nil {
		return job.Job{}, err
	}
	if !q.limiter.Allow(now) {
		q.count("limited")
		return job.Job{}, &ErrLimited{Wait: q.limiter.Next(now)}
	}
	j, err := q.store.Claim(ctx, q.name, now, q.lease)
	if err != nil {
		return job.Job{}, err
	}
	q.count("claimed")
	return j, nil
}

// Done ends a job that went well.
func (q *Queue) Done(ctx context.Context, id job.ID) error {
	now := q.clock.Now()
	if err := q.store.Complete(ctx, id, now); err != nil {
		return err
	}
	q.count("done")
	return nil
}

// Fail records a failed attempt. The job is buried when its attempts are used
// up or when cause is permanent; otherwise it comes back after a delay. The
// job is returned as it stands afterwards.
func (q *Queue) Fail(ctx context.Context, id job.ID, cause error) (job.Job, error) {
	if cause == nil {
		return job.Job{}, fmt.Errorf("queue: job %s failed without a cause", id)
	}
	j, err := q.store.Get(ctx, id)
	if err != nil {
		return job.Job{}, err
	}
	now := q.clock.Now()
	if j.Exhausted() || IsPermanent(cause) {
		if err := q.store.Bury(ctx, id, now, cause.Error()); err != nil {
			return job.Job{}, err
		}
		q.count("dead")
		return q.store.Get(ctx, id)
	}
	if err := q.store.Retry(ctx, id, q.nextRun(now, j, cause), cause.Error()); err != nil {
		return job.Job{}, err
	}
	q.count("retried")
	return q.store.Get(ctx, id)
}

// Cancel ends a job that nobody wants any more.
func (q *Queue) Cancel(ctx context.Context, id job.ID) error {
	if err := q.store.Cancel(ctx, id, q.clock.Now()); err != nil {
		return err
	}
	q.count("cancelled")
	return nil
}

// Counts is the number of jobs of this queue in each state.
func (q *Queue) Counts(ctx context.Context) (store.Counts, error) {
	return store.Count(ctx, q.store, q.name)
}

// nextRun is when a failed job is due again.
func (q *Queue) nextRun(now time.Time, j job.Job, cause error) time.Time {
	if delay, ok := Delay(cause); ok {
		return now.Add(delay)
	}
	return now.Add(q.backoff.Delay(j.Attempts))
}

func (q *Queue) count(what string) {
	q.metrics.Counter("jobs_"+what, q.name).Add(1)
}
