package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.org/millrace/clock"
	"example.org/millrace/job"
	"example.org/millrace/queue"
	"example.org/millrace/store"
)

// Pool runs up to a fixed number of jobs of one queue at a time.
type Pool struct {
	// Queue is where jobs come from.
	Queue *queue.Queue
	// Handler does the work.
	Handler Handler
	// Size is how many jobs run at a time; values below 1 count as 1.
	Size int
	// Poll is how often an idle pool asks the queue; zero means each second.
	Poll time.Duration
	// Clock waits between two polls; nil means the clock of the machine.
	Clock clock.Clock
	// Report is told of errors that no job can carry; nil drops them.
	Report func(error)
}

// Run works until the context is over. It then waits for the jobs that are
// running and returns nil. An error of the queue ends the run as well, and is
// returned.
func (p *Pool) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	size := max(p.Size, 1)
	free := make(chan struct{}, size)
	for range size {
		free <- struct{}{}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-free:
		}
		j, wait, err := p.refill(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if wait > 0 {
			free <- struct{}{}
			select {
			case <-ctx.Done():
				return nil
			case <-p.clock().After(wait):
			}
			continue
		}
		running.Add(1)
		go func() {
			defer running.Done()
			defer func() { free <- struct{}{} }()
			p.work(ctx, j)
		}()
	}
}

// Drain works, one job at a time, until the queue has nothing to hand out at
// the present instant. It returns how many jobs it ran.
func (p *Pool) Drain(ctx context.Context) (int, error) {
	for n := 0; ; n++ {
		j, wait, err := p.refill(ctx)
		if err != nil || wait > 0 {
			return n, err
		}
		p.work(ctx, j)
	}
}

// refill asks the queue for the job of a free place. Where there is none it
// returns how long to wait before the next question, never more than Poll,
// since another job may come in or a lease may end meanwhile.
func (p *Pool) refill(ctx context.Context) (job.Job, time.Duration, error) {
	poll := p.Poll
	if poll <= 0 {
		poll = time.Second
	}
	j, err := p.Queue.Claim(ctx)
	var limited *queue.ErrLimited
	switch {
	case err == nil:
		return j, 0, nil
	case errors.Is(err, store.ErrEmpty):
		return job.Job{}, poll, nil
	case errors.As(err, &limited):
		return job.Job{}, min(max(limited.Wait, 1), poll), nil
	}
	return job.Job{}, 0, err
}

// work runs the handler on one job and tells the queue how it went.
func (p *Pool) work(ctx context.Context, j job.Job) {
	cause := p.Handler.Handle(ctx, j)
	// The outcome has to be recorded even when the pool is being stopped.
	ctx = context.WithoutCancel(ctx)
	var err error
	if cause == nil {
		err = p.Queue.Done(ctx, j.ID)
	} else {
		_, err = p.Queue.Fail(ctx, j.ID, cause)
	}
	if err != nil && p.Report != nil {
		p.Report(fmt.Errorf("worker: outcome of job %s: %w", j.ID, err))
	}
}

func (p *Pool) clock() clock.Clock {
	if p.Clock == nil {
		return clock.System{}
	}
	return p.Clock
}
