package schedule

import (
	"context"
	"testing"
	"time"

	"example.org/millrace/clock"
	"example.org/millrace/cron"
	"example.org/millrace/job"
	"example.org/millrace/queue"
	"example.org/millrace/store"
)

var (
	ctx   = context.Background()
	start = time.Date(2024, time.June, 3, 8, 30, 0, 0, time.UTC)
)

func entry(t *testing.T, name, text string, catchUp CatchUp) Entry {
	t.Helper()
	s, err := cron.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{Name: name, Schedule: s, CatchUp: catchUp, Make: func(time.Time) job.Job {
		return job.New("report", nil)
	}}
}

func newQueue() (*queue.Queue, store.Store) {
	s := store.NewMemory()
	return queue.New("reports", s, queue.WithClock(clock.NewManual(start))), s
}

func TestTickCatchUp(t *testing.T) {
	tests := []struct {
		name    string
		catchUp CatchUp
		pause   time.Duration
		want    int
	}{
		{"nothing due", Latest, 29 * time.Minute, 0},
		{"latest of one", Latest, 30 * time.Minute, 1},
		{"latest of many", Latest, 5 * time.Hour, 1},
		{"every", Every, 5 * time.Hour, 5},
		{"every is bounded", Every, 1000 * time.Hour, MaxMissed},
		{"skip what is old", Skip, 5 * time.Hour, 0},
		{"skip keeps what is fresh", Skip, 30*time.Minute + 59*time.Second, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := newQueue()
			s := New(q)
			if err := s.Add(entry(t, "report", "@hourly", tt.catchUp), start); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Tick(ctx, start.Add(tt.pause)); err != nil || n != tt.want {
				t.Fatalf("Tick = %d, %v; want %d", n, err, tt.want)
			}
			if n, err := s.Tick(ctx, start.Add(tt.pause)); err != nil || n != 0 {
				t.Fatalf("a second Tick = %d, %v", n, err)
			}
		})
	}
}

func TestLatestAfterALongPause(t *testing.T) {
	q, kept := newQueue()
	s := New(q)
	if err := s.Add(entry(t, "report", "* * * * *", Latest), start); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tick(ctx, start.Add(72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	jobs, err := kept.List(ctx, store.Filter{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs = %v, %v", jobs, err)
	}
	if got := jobs[0].Tags[TagInstant]; got != "2024-06-06T08:30:00Z" {
		t.Fatalf("%s = %q", TagInstant, got)
	}
}

func TestTwoSchedulersMakeOneJob(t *testing.T) {
	q, kept := newQueue()
	for range 2 {
		s := New(q)
		if err := s.Add(entry(t, "report", "@hourly", Latest), start); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Tick(ctx, start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := kept.List(ctx, store.Filter{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs = %v, %v", jobs, err)
	}
	if got := jobs[0].Tags[TagInstant]; got != "2024-06-03T09:00:00Z" {
		t.Fatalf("%s = %q", TagInstant, got)
	}
}

func TestAddRefuses(t *testing.T) {
	q, _ := newQueue()
	s := New(q)
	good := entry(t, "report", "@daily", Latest)
	if err := s.Add(good, start); err != nil {
		t.Fatal(err)
	}
	nameless, lazy := good, good
	nameless.Name = ""
	lazy.Name, lazy.Make = "lazy", nil
	for name, e := range map[string]Entry{"same name": good, "no name": nameless, "no job": lazy} {
		t.Run(name, func(t *testing.T) {
			if s.Add(e, start) == nil {
				t.Fatal("the entry was taken")
			}
		})
	}
}

func TestNext(t *testing.T) {
	q, _ := newQueue()
	s := New(q)
	for _, e := range []Entry{
		entry(t, "night", "0 2 * * *", Latest), entry(t, "hour", "@hourly", Latest), entry(t, "never", "0 0 30 2 *", Latest),
	} {
		if err := s.Add(e, start); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Next(start)
	if len(got) != 2 || got[0].Name != "hour" || got[1].Name != "night" {
		t.Fatalf("Next = %v", got)
	}
}
