package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/millrace/job"
	"example.org/millrace/store"
)

var (
	ctx   = context.Background()
	start = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)
)

// scratch is a journal in a folder of its own, and the ids of its jobs.
type scratch struct {
	*Store
	t    *testing.T
	path string
	ids  job.Generator
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	s := &scratch{t: t, path: filepath.Join(t.TempDir(), "jobs.journal")}
	s.open()
	return s
}

func (s *scratch) open() {
	s.t.Helper()
	opened, err := Open(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Store = opened
	s.t.Cleanup(func() { opened.Close() })
}

// restart ends the store as the end of a process would, and opens it again.
func (s *scratch) restart() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

func (s *scratch) put(options ...job.Option) job.ID {
	s.t.Helper()
	j := job.New("work", []byte("payload"), append([]job.Option{job.At(start)}, options...)...)
	j.ID, j.Created = s.ids.Next(start), start
	if err := s.Put(ctx, j); err != nil {
		s.t.Fatal(err)
	}
	return j.ID
}

func (s *scratch) claim(now time.Time) job.Job {
	s.t.Helper()
	j, err := s.Claim(ctx, job.DefaultQueue, now, time.Minute)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

func (s *scratch) get(id job.ID) job.Job {
	s.t.Helper()
	j, err := s.Get(ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

func TestReopen(t *testing.T) {
	tests := []struct {
		name string
		act  func(s *scratch, id job.ID) error
	}{
		{"pending", func(*scratch, job.ID) error { return nil }},
		{"done", func(s *scratch, id job.ID) error {
			return s.Complete(ctx, id, start.Add(time.Second))
		}},
		{"dead", func(s *scratch, id job.ID) error {
			return s.Bury(ctx, id, start.Add(time.Second), "it is = broken\nfor good")
		}},
		{"cancelled", func(s *scratch, id job.ID) error {
			return s.Cancel(ctx, id, start.Add(time.Second))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScratch(t)
			id := s.put(job.WithTag("team", "ops"), job.WithPriority(3))
			if tt.name != "pending" {
				s.claim(start)
			}
			if err := tt.act(s, id); err != nil {
				t.Fatal(err)
			}
			before := s.get(id)
			s.restart()
			after := s.get(id)
			before.Attempts, after.Attempts = 0, 0
			if !reflect.DeepEqual(after, before) {
				t.Fatalf("after  %+v\nbefore %+v", after, before)
			}
		})
	}
}

func TestReopenRetry(t *testing.T) {
	s := newScratch(t)
	id := s.put()
	s.claim(start)
	if err := s.Retry(ctx, id, start.Add(time.Minute), "no luck"); err != nil {
		t.Fatal(err)
	}
	s.restart()
	j := s.get(id)
	if j.State != job.Pending || !j.RunAt.Equal(start.Add(time.Minute)) || j.LastError != "no luck" {
		t.Fatalf("after restart: %+v", j)
	}
	if _, err := s.Peek(ctx, job.DefaultQueue, start); !errors.Is(err, store.ErrEmpty) {
		t.Fatalf("error = %v, want ErrEmpty", err)
	}
}

func TestReopenRunning(t *testing.T) {
	s := newScratch(t)
	id := s.put()
	s.claim(start)
	s.restart()
	if j := s.get(id); j.State != job.Pending || j.Attempts != 0 {
		t.Fatalf("after restart: %+v", j)
	}
}

func TestReopenKeepsUniqueKeys(t *testing.T) {
	s := newScratch(t)
	s.put(job.Unique("k"))
	s.restart()
	j := job.New("work", nil, job.Unique("k"))
	j.ID = s.ids.Next(start)
	if err := s.Put(ctx, j); !errors.Is(err, store.ErrDuplicate) {
		t.Fatalf("error = %v, want ErrDuplicate", err)
	}
}

func TestTornTail(t *testing.T) {
	s := newScratch(t)
	first, second := s.put(), s.put()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, data[:len(data)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	s.open()
	s.get(first)
	if _, err := s.Get(ctx, second); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("error = %v, want ErrNotFound", err)
	}
	third := s.put()
	s.restart()
	s.get(third)
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct{ name, text string }{
		{"no op", "id=0\n"},
		{"unknown op", "op=sing\n"},
		{"unknown job", "op=done id=0123456789abcd at=2024-06-03T08:00:00Z\n"},
		{"no id", "op=done\n"},
		{"unknown field", "op=done id=0123456789abcd colour=red\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.journal")
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil || !strings.Contains(err.Error(), "bad.journal:1") {
				t.Fatalf("error = %v, want one that names the line", err)
			}
		})
	}
}

func TestCompact(t *testing.T) {
	s := newScratch(t)
	kept, dropped, waiting := s.put(), s.put(job.WithPriority(1)), s.put(job.At(start.Add(time.Hour)))
	s.claim(start)
	if err := s.Complete(ctx, dropped, start); err != nil {
		t.Fatal(err)
	}
	s.claim(start)
	if err := s.Retry(ctx, kept, start.Add(time.Minute), "no luck"); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx, func(job.Job) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if got := s.Records(); got != 2 {
		t.Fatalf("Records = %d, want 2", got)
	}
	s.restart()
	if j := s.get(kept); j.Attempts != 1 || j.LastError != "no luck" {
		t.Fatalf("kept job: %+v", j)
	}
	s.get(waiting)
	if _, err := s.Get(ctx, dropped); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("error = %v, want ErrNotFound", err)
	}
}

func TestCompactPutsRunningJobsBack(t *testing.T) {
	s := newScratch(t)
	id := s.put()
	s.claim(start)
	if err := s.Compact(ctx, func(job.Job) bool { return true }); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if j := s.get(id); j.State != job.Pending || j.Attempts != 0 {
		t.Fatalf("after restart: %+v", j)
	}
}
