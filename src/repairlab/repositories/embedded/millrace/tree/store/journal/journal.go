// Package journal is a store that survives the end of its process.
//
// The jobs live in memory. Every change that has to outlive the process is
// appended to a file, one record a line; opening the file again plays the
// records back. Leases are not written: a job that was running when the
// process ended is pending again, and the attempt that was cut short does not
// count.
package journal

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"example.org/millrace/job"
	"example.org/millrace/store"
)

// Store is a store.Store with a journal behind it.
type Store struct {
	mu      sync.Mutex
	memory  *store.Memory
	path    string
	file    *os.File
	records int
}

var _ store.Store = (*Store)(nil)

// Open plays back the journal at path, or begins a new one.
func Open(path string) (*Store, error) {
	jobs := map[job.ID]job.Job{}
	records := 0
	size, err := readLines(path, func(line string) error {
		r, err := decode(line)
		if err != nil {
			return err
		}
		records++
		return apply(jobs, r)
	})
	if err != nil {
		return nil, err
	}
	memory := store.NewMemory()
	for _, j := range (store.Filter{}).Apply(values(jobs)) {
		if err := memory.Put(context.Background(), j); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	file, err := openAppend(path, size)
	if err != nil {
		return nil, err
	}
	return &Store{memory: memory, path: path, file: file, records: records}, nil
}

// apply plays one record back.
func apply(jobs map[job.ID]job.Job, r record) error {
	if r.op == opPut {
		jobs[r.id] = r.job
		return nil
	}
	j, ok := jobs[r.id]
	if !ok {
		return fmt.Errorf("%w: %s", store.ErrNotFound, r.id)
	}
	switch r.op {
	case opRetry:
		j.RunAt = r.at
		j.LastError = r.reason
	case opDone:
		j.State, j.Finished = job.Done, r.at
	case opDead:
		j.State, j.Finished, j.LastError = job.Dead, r.at, r.reason
	case opCancel:
		j.State, j.Finished = job.Cancelled, r.at
	}
	jobs[r.id] = j
	return nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, j job.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Put(ctx, j); err != nil {
		return err
	}
	return s.append(record{op: opPut, id: j.ID, job: j})
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, id job.ID) (job.Job, error) {
	return s.memory.Get(ctx, id)
}

// Peek implements store.Store.
func (s *Store) Peek(ctx context.Context, queue string, now time.Time) (job.Job, error) {
	return s.memory.Peek(ctx, queue, now)
}

// Claim implements store.Store. It writes nothing.
func (s *Store) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration) (job.Job, error) {
	return s.memory.Claim(ctx, queue, now, lease)
}

// Complete implements store.Store.
func (s *Store) Complete(ctx context.Context, id job.ID, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Complete(ctx, id, now); err != nil {
		return err
	}
	return s.append(record{op: opDone, id: id, at: now})
}

// Retry implements store.Store.
func (s *Store) Retry(ctx context.Context, id job.ID, runAt time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Retry(ctx, id, runAt, reason); err != nil {
		return err
	}
	return s.append(record{op: opRetry, id: id, at: runAt, reason: reason})
}

// Bury implements store.Store.
func (s *Store) Bury(ctx context.Context, id job.ID, now time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Bury(ctx, id, now, reason); err != nil {
		return err
	}
	return s.append(record{op: opDead, id: id, at: now, reason: reason})
}

// Cancel implements store.Store.
func (s *Store) Cancel(ctx context.Context, id job.ID, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Cancel(ctx, id, now); err != nil {
		return err
	}
	return s.append(record{op: opCancel, id: id, at: now})
}

// Expire implements store.Store. It writes nothing, as leases are not written.
func (s *Store) Expire(ctx context.Context, now time.Time) (int, error) {
	return s.memory.Expire(ctx, now)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, f store.Filter) ([]job.Job, error) {
	return s.memory.List(ctx, f)
}

// Records is the number of records in the file.
func (s *Store) Records() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records
}

// Compact rewrites the journal so that it holds one record for each job that
// keep lets through, and forgets the other jobs at the next Open. Jobs that
// have not ended are always kept.
func (s *Store) Compact(ctx context.Context, keep func(job.Job) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs, err := s.memory.List(ctx, store.Filter{})
	if err != nil {
		return err
	}
	var lines []string
	for _, j := range jobs {
		if j.State.Terminal() && !keep(j) {
			continue
		}
		if j.State == job.Running {
			j.State = job.Pending
			j.Attempts--
		}
		line, err := record{op: opPut, id: j.ID, job: j}.encode()
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	if err := replaceFile(s.path, lines); err != nil {
		return err
	}
	return s.reopen(len(lines))
}

func (s *Store) reopen(records int) error {
	if err := s.file.Close(); err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	s.file, err = openAppend(s.path, info.Size())
	s.records = records
	return err
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.memory.Close(); err != nil {
		return err
	}
	return s.file.Close()
}

func (s *Store) append(r record) error {
	line, err := r.encode()
	if err != nil {
		return err
	}
	if _, err := s.file.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	s.records++
	return nil
}

func values(jobs map[job.ID]job.Job) []job.Job {
	out := make([]job.Job, 0, len(jobs))
	for _, j := range jobs {
		out = append(out, j)
	}
	return out
}
