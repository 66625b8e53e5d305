package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/millrace/backoff"
	"example.org/millrace/clock"
	"example.org/millrace/job"
	"example.org/millrace/limit"
	"example.org/millrace/metrics"
	"example.org/millrace/queue"
	"example.org/millrace/store"
)

var (
	ctx   = context.Background()
	start = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)
)

func fails(text string) Handler {
	return HandlerFunc(func(context.Context, job.Job) error { return errors.New(text) })
}

func succeeds() Handler {
	return HandlerFunc(func(context.Context, job.Job) error { return nil })
}

func TestMux(t *testing.T) {
	m := NewMux().On("a", succeeds()).On("b", fails("b is broken"))
	tests := []struct {
		kind      string
		problem   string
		permanent bool
	}{
		{"a", "", false},
		{"b", "b is broken", false},
		{"c", "no handler", true},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			err := m.Handle(ctx, job.New(tt.kind, nil))
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.problem) || queue.IsPermanent(err) != tt.permanent {
				t.Fatalf("error = %v, permanent %v", err, queue.IsPermanent(err))
			}
		})
	}
	if got := m.Kinds(); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("Kinds = %v", got)
	}
	if err := m.Otherwise(succeeds()).Handle(ctx, job.New("c", nil)); err != nil {
		t.Fatal(err)
	}
}

func TestMuxRefusesTwoHandlers(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	NewMux().On("a", succeeds()).On("a", succeeds())
}

func TestWrapOrder(t *testing.T) {
	var seen []string
	layer := func(name string) Middleware {
		return func(next Handler) Handler {
			return HandlerFunc(func(ctx context.Context, j job.Job) error {
				seen = append(seen, name)
				return next.Handle(ctx, j)
			})
		}
	}
	if err := Wrap(succeeds(), layer("outer"), layer("inner")).Handle(ctx, job.New("a", nil)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []string{"outer", "inner"}) {
		t.Fatalf("order = %v", seen)
	}
}

func TestRecover(t *testing.T) {
	panics := HandlerFunc(func(context.Context, job.Job) error { panic("boom") })
	for _, final := range []bool{true, false} {
		err := Wrap(panics, Recover(final)).Handle(ctx, job.New("a", nil))
		if err == nil || !strings.Contains(err.Error(), "boom") || queue.IsPermanent(err) != final {
			t.Fatalf("final %v: error = %v", final, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	waits := HandlerFunc(func(ctx context.Context, _ job.Job) error {
		<-ctx.Done()
		return ctx.Err()
	})
	err := Wrap(waits, Timeout(time.Millisecond)).Handle(ctx, job.New("slow", nil))
	if err == nil || !strings.Contains(err.Error(), "slow took longer") {
		t.Fatalf("error = %v", err)
	}
}

func TestObserve(t *testing.T) {
	registry, manual := metrics.NewRegistry(), clock.NewManual(start)
	slow := HandlerFunc(func(context.Context, job.Job) error {
		manual.Advance(3 * time.Second)
		return errors.New("no luck")
	})
	if err := Wrap(slow, Observe(registry, manual)).Handle(ctx, job.New("a", nil)); err == nil {
		t.Fatal("the error was lost")
	}
	if got := registry.Histogram("job_seconds", "a").Snapshot().Sum; got != 3 {
		t.Fatalf("sum = %g", got)
	}
	if got := registry.Counter("job_errors", "a").Value(); got != 1 {
		t.Fatalf("errors = %d", got)
	}
}

func TestOnlyFirst(t *testing.T) {
	h := Wrap(fails("no luck"), OnlyFirst())
	if h.Handle(ctx, job.Job{Attempts: 1}) == nil {
		t.Fatal("the first attempt did not reach the handler")
	}
	if err := h.Handle(ctx, job.Job{Attempts: 2}); err != nil {
		t.Fatal(err)
	}
}

func newPool(t *testing.T, h Handler, options ...queue.Option) (*Pool, *clock.Manual) {
	t.Helper()
	manual := clock.NewManual(start)
	base := []queue.Option{queue.WithClock(manual), queue.WithBackoff(backoff.Fixed(time.Minute))}
	q := queue.New("work", store.NewMemory(), append(base, options...)...)
	return &Pool{Queue: q, Handler: h, Clock: manual}, manual
}

func TestDrain(t *testing.T) {
	p, manual := newPool(t, NewMux().On("good", succeeds()).On("bad", fails("no luck")))
	for _, kind := range []string{"good", "bad", "good"} {
		if _, err := p.Queue.Enqueue(ctx, job.New(kind, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{3, 0} {
		if n, err := p.Drain(ctx); err != nil || n != want {
			t.Fatalf("Drain = %d, %v; want %d", n, err, want)
		}
	}
	manual.Advance(time.Minute)
	if n, err := p.Drain(ctx); err != nil || n != 1 {
		t.Fatalf("Drain after the delay = %d, %v", n, err)
	}
}

func TestRefillWait(t *testing.T) {
	bucket, err := limit.NewBucket(limit.Rate{Count: 1, Per: 10 * time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := newPool(t, succeeds(), queue.WithLimiter(bucket))
	for range 2 {
		if _, err := p.Queue.Enqueue(ctx, job.New("a", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		poll, want time.Duration
	}{
		{"short poll", 3 * time.Second, 3 * time.Second},
		{"long poll", time.Minute, 10 * time.Second},
		{"default poll", 0, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.Poll = tt.poll
			if _, wait, err := p.refill(ctx); err != nil || wait != tt.want {
				t.Fatalf("refill waits %v, %v; want %v", wait, err, tt.want)
			}
		})
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	handled := make(chan job.ID)
	p, _ := newPool(t, HandlerFunc(func(_ context.Context, j job.Job) error {
		handled <- j.ID
		return nil
	}))
	p.Size = 2
	first, err := p.Queue.Enqueue(ctx, job.New("a", nil))
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- p.Run(stop) }()
	if got := <-handled; got != first.ID {
		t.Fatalf("handled %s", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if counts, err := p.Queue.Counts(ctx); err != nil || counts[job.Done] != 1 {
		t.Fatalf("Counts = %v, %v", counts, err)
	}
}
