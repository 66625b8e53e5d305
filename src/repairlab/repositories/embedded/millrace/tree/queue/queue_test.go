package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.org/millrace/backoff"
	"example.org/millrace/clock"
	"example.org/millrace/job"
	"example.org/millrace/metrics"
	"example.org/millrace/store"
)

var (
	ctx     = context.Background()
	start   = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)
	errTest = errors.New("no luck")
)

func newQueue(t *testing.T, options ...Option) (*Queue, *clock.Manual) {
	t.Helper()
	manual := clock.NewManual(start)
	base := []Option{WithClock(manual), WithBackoff(backoff.Fixed(time.Minute))}
	return New("mail", store.NewMemory(), append(base, options...)...), manual
}

func enqueue(t *testing.T, q *Queue, options ...job.Option) job.Job {
	t.Helper()
	j, err := q.Enqueue(ctx, job.New("welcome", nil, options...))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func claim(t *testing.T, q *Queue) job.Job {
	t.Helper()
	j, err := q.Claim(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestEnqueueFillsIn(t *testing.T) {
	q, _ := newQueue(t)
	j := enqueue(t, q, job.OnQueue("ignored"))
	if j.Queue != "mail" || !j.Created.Equal(start) || !j.RunAt.Equal(start) {
		t.Fatalf("stored job: %+v", j)
	}
	if _, err := job.ParseID(string(j.ID)); err != nil {
		t.Fatal(err)
	}
}

func TestEnqueueUnique(t *testing.T) {
	registry := metrics.NewRegistry()
	q, _ := newQueue(t, WithMetrics(registry))
	first := enqueue(t, q, job.Unique("k"))
	if _, err := q.Enqueue(ctx, job.New("welcome", nil, job.Unique("k"))); !errors.Is(err, store.ErrDuplicate) {
		t.Fatalf("error = %v, want ErrDuplicate", err)
	}
	if got := registry.Counter("jobs_refused", "mail").Value(); got != 1 {
		t.Fatalf("jobs_refused = %d", got)
	}
	if err := q.Cancel(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	enqueue(t, q, job.Unique("k"))
}

func TestQueuesShareAStore(t *testing.T) {
	shared, manual := store.NewMemory(), clock.NewManual(start)
	mail := New("mail", shared, WithClock(manual))
	sms := New("sms", shared, WithClock(manual))
	first, second := enqueue(t, mail), enqueue(t, sms)
	if first.ID == second.ID {
		t.Fatalf("both jobs are %s", first.ID)
	}
	if j := claim(t, sms); j.ID != second.ID {
		t.Fatalf("sms handed out %s", j.ID)
	}
}

func TestClaimEmpty(t *testing.T) {
	q, manual := newQueue(t)
	enqueue(t, q, job.At(start.Add(time.Minute)))
	if _, err := q.Claim(ctx); !errors.Is(err, store.ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
	manual.Advance(time.Minute)
	claim(t, q)
}

func TestClaimTakesBackExpired(t *testing.T) {
	q, manual := newQueue(t, WithLease(time.Minute))
	want := enqueue(t, q)
	claim(t, q)
	manual.Advance(time.Minute)
	if j := claim(t, q); j.ID != want.ID || j.Attempts != 2 {
		t.Fatalf("claimed %+v", j)
	}
}

func TestFail(t *testing.T) {
	tests := []struct {
		name    string
		cause   error
		options []job.Option
		state   job.State
		wait    time.Duration
	}{
		{"by policy", errTest, nil, job.Pending, time.Minute},
		{"asked for", RetryAfter(errTest, time.Hour), nil, job.Pending, time.Hour},
		{"asked for, wrapped", fmt.Errorf("mail: %w", RetryAfter(errTest, 0)), nil, job.Pending, 0},
		{"permanent", Permanent(errTest), nil, job.Dead, 0},
		{"permanent, wrapped", fmt.Errorf("mail: %w", Permanent(errTest)), nil, job.Dead, 0},
		{"last attempt", errTest, []job.Option{job.WithMaxAttempts(1)}, job.Dead, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := newQueue(t)
			enqueue(t, q, tt.options...)
			j, err := q.Fail(ctx, claim(t, q).ID, tt.cause)
			if err != nil {
				t.Fatal(err)
			}
			if j.State != tt.state || j.LastError != tt.cause.Error() {
				t.Fatalf("after Fail: %+v", j)
			}
			if j.State == job.Pending && !j.RunAt.Equal(start.Add(tt.wait)) {
				t.Fatalf("due at %v, want %v later than now", j.RunAt, tt.wait)
			}
		})
	}
}

func TestFailUntilDead(t *testing.T) {
	q, manual := newQueue(t)
	enqueue(t, q, job.WithMaxAttempts(3))
	for attempt := 1; attempt <= 3; attempt++ {
		j, err := q.Fail(ctx, claim(t, q).ID, errTest)
		if err != nil {
			t.Fatal(err)
		}
		if dead := j.State == job.Dead; dead != (attempt == 3) {
			t.Fatalf("attempt %d: %s", attempt, j.State)
		}
		manual.Advance(time.Minute)
	}
}

func TestFailRefuses(t *testing.T) {
	q, _ := newQueue(t)
	j := enqueue(t, q)
	t.Run("no cause", func(t *testing.T) {
		if _, err := q.Fail(ctx, j.ID, nil); err == nil {
			t.Fatal("a failure without a cause was taken")
		}
	})
	t.Run("not running", func(t *testing.T) {
		var transition *job.TransitionError
		if _, err := q.Fail(ctx, j.ID, errTest); !errors.As(err, &transition) {
			t.Fatalf("error = %v, want a TransitionError", err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if _, err := q.Fail(ctx, "nobody", errTest); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("error = %v, want ErrNotFound", err)
		}
	})
}

func TestCounts(t *testing.T) {
	q, _ := newQueue(t)
	enqueue(t, q)
	enqueue(t, q)
	if err := q.Done(ctx, claim(t, q).ID); err != nil {
		t.Fatal(err)
	}
	counts, err := q.Counts(ctx)
	if err != nil || counts[job.Done] != 1 || counts.Live() != 1 {
		t.Fatalf("Counts = %v, %v", counts, err)
	}
}

func TestErrorMarksKeepNil(t *testing.T) {
	if Permanent(nil) != nil || RetryAfter(nil, time.Second) != nil {
		t.Fatal("a mark made an error out of nil")
	}
}
