package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.org/millrace/job"
)

var (
	ctx   = context.Background()
	start = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)
)

func put(t *testing.T, s Store, id job.ID, options ...job.Option) job.Job {
	t.Helper()
	j := job.New("work", nil, append([]job.Option{job.At(start)}, options...)...)
	j.ID, j.Created = id, start
	if err := s.Put(ctx, j); err != nil {
		t.Fatal(err)
	}
	return j
}

func claim(t *testing.T, s Store, now time.Time) job.Job {
	t.Helper()
	j, err := s.Claim(ctx, job.DefaultQueue, now, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestClaimOrder(t *testing.T) {
	m := NewMemory()
	put(t, m, "c")
	put(t, m, "a", job.At(start.Add(time.Second)))
	put(t, m, "b", job.WithPriority(5), job.At(start.Add(time.Second)))
	put(t, m, "later", job.WithPriority(9), job.At(start.Add(time.Hour)))
	now := start.Add(2 * time.Second)
	for _, want := range []job.ID{"b", "c", "a"} {
		if got := claim(t, m, now).ID; got != want {
			t.Fatalf("claimed %s, want %s", got, want)
		}
	}
	if _, err := m.Claim(ctx, job.DefaultQueue, now, time.Minute); !errors.Is(err, ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
}

func TestClaimCountsAttempts(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	for want := 1; want <= 3; want++ {
		j := claim(t, m, start)
		if j.Attempts != want || j.State != job.Running {
			t.Fatalf("attempt %d: %+v", want, j)
		}
		if err := m.Retry(ctx, "a", start, "no luck"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClaimWhenTheClockStepsBack(t *testing.T) {
	m := NewMemory()
	put(t, m, "a", job.At(start.Add(time.Minute)))
	if _, err := m.Peek(ctx, job.DefaultQueue, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Claim(ctx, job.DefaultQueue, start, time.Minute); !errors.Is(err, ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
}

func TestPeekChangesNothing(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	for range 2 {
		j, err := m.Peek(ctx, job.DefaultQueue, start)
		if err != nil || j.ID != "a" || j.Attempts != 0 {
			t.Fatalf("Peek = %+v, %v", j, err)
		}
	}
}

func TestPutRefuses(t *testing.T) {
	m := NewMemory()
	put(t, m, "a", job.Unique("k"))
	tests := []struct {
		name string
		id   job.ID
		key  string
		want error
	}{
		{"same id", "a", "", ErrExists},
		{"no id", "", "", ErrExists},
		{"same key", "b", "k", ErrDuplicate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := job.New("work", nil, job.Unique(tt.key))
			j.ID = tt.id
			if err := m.Put(ctx, j); !errors.Is(err, tt.want) {
				t.Fatalf("error = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestUniqueKeyIsReleased(t *testing.T) {
	ends := map[string]func(*Memory) error{
		"done":      func(m *Memory) error { return m.Complete(ctx, "a", start) },
		"dead":      func(m *Memory) error { return m.Bury(ctx, "a", start, "broken") },
		"cancelled": func(m *Memory) error { return m.Cancel(ctx, "a", start) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			m := NewMemory()
			put(t, m, "a", job.Unique("k"))
			claim(t, m, start)
			if err := end(m); err != nil {
				t.Fatal(err)
			}
			put(t, m, "b", job.Unique("k"))
		})
	}
}

func TestRetryDelays(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	claim(t, m, start)
	if err := m.Retry(ctx, "a", start.Add(time.Minute), "no luck"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Peek(ctx, job.DefaultQueue, start.Add(59*time.Second)); !errors.Is(err, ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
	if j := claim(t, m, start.Add(time.Minute)); j.LastError != "no luck" {
		t.Fatalf("last error = %q", j.LastError)
	}
}

func TestExpire(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	claim(t, m, start)
	tests := []struct {
		name  string
		after time.Duration
		want  int
	}{
		{"before the end", 59 * time.Second, 0},
		{"at the end", time.Minute, 1},
		{"again", 2 * time.Minute, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n, err := m.Expire(ctx, start.Add(tt.after)); err != nil || n != tt.want {
				t.Fatalf("Expire = %d, %v", n, err)
			}
		})
	}
	if j := claim(t, m, start.Add(time.Hour)); j.Attempts != 2 || j.LastError != "lease expired" {
		t.Fatalf("job after its lease: %+v", j)
	}
}

func TestCancelPending(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	put(t, m, "b", job.At(start.Add(time.Hour)))
	for _, id := range []job.ID{"a", "b"} {
		if err := m.Cancel(ctx, id, start); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Peek(ctx, job.DefaultQueue, start.Add(2*time.Hour)); !errors.Is(err, ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
	var transition *job.TransitionError
	if err := m.Cancel(ctx, "a", start); !errors.As(err, &transition) {
		t.Fatalf("error = %v, want a TransitionError", err)
	}
}

func TestCount(t *testing.T) {
	m := NewMemory()
	put(t, m, "a")
	put(t, m, "b")
	put(t, m, "c", job.OnQueue("other"))
	claim(t, m, start)
	counts, err := Count(ctx, m, job.DefaultQueue)
	if err != nil || counts[job.Pending] != 1 || counts[job.Running] != 1 || counts.Live() != 2 {
		t.Fatalf("Count = %v, %v", counts, err)
	}
}

func TestClosed(t *testing.T) {
	m := NewMemory()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Get(ctx, "a"); !errors.Is(err, ErrClosed) {
		t.Fatalf("error = %v, want ErrClosed", err)
	}
}

func TestGetUnknown(t *testing.T) {
	if _, err := NewMemory().Get(ctx, "a"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("error = %v, want ErrNotFound", err)
	}
}
