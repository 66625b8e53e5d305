package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.org/millrace/job"
)

// Memory is a Store without a disk.
type Memory struct {
	mu     sync.Mutex
	jobs   map[job.ID]*job.Job
	lines  map[string]*line
	leases map[job.ID]time.Time
	unique map[string]job.ID
	closed bool
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		jobs:   map[job.ID]*job.Job{},
		lines:  map[string]*line{},
		leases: map[job.ID]time.Time{},
		unique: map[string]job.ID{},
	}
}

// Put implements Store.
func (m *Memory) Put(_ context.Context, j job.Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if err := j.Validate(); err != nil {
		return err
	}
	if _, ok := m.jobs[j.ID]; ok || j.ID == "" {
		return fmt.Errorf("%w: id %q", ErrExists, j.ID)
	}
	if holder, ok := m.unique[j.UniqueKey]; ok && !j.State.Terminal() {
		return fmt.Errorf("%w: %s has %q", ErrDuplicate, holder, j.UniqueKey)
	}
	kept := j.Clone()
	m.jobs[j.ID] = &kept
	if kept.UniqueKey != "" && !kept.State.Terminal() {
		m.unique[kept.UniqueKey] = kept.ID
	}
	if kept.State == job.Pending {
		m.line(kept.Queue).push(&kept)
	}
	return nil
}

// Get implements Store.
func (m *Memory) Get(_ context.Context, id job.ID) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.find(id)
	if err != nil {
		return job.Job{}, err
	}
	return j.Clone(), nil
}

// Peek implements Store.
func (m *Memory) Peek(_ context.Context, queue string, now time.Time) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return job.Job{}, ErrClosed
	}
	id, ok := m.line(queue).peek(now)
	if !ok {
		return job.Job{}, ErrEmpty
	}
	return m.jobs[id].Clone(), nil
}

// Claim implements Store.
func (m *Memory) Claim(_ context.Context, queue string, now time.Time, lease time.Duration) (job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return job.Job{}, ErrClosed
	}
	line := m.line(queue)
	id, ok := line.peek(now)
	if !ok {
		return job.Job{}, ErrEmpty
	}
	j := m.jobs[id]
	if err := j.Move(job.Running); err != nil {
		return job.Job{}, err
	}
	line.drop()
	j.Attempts++
	m.leases[id] = now.Add(lease)
	return j.Clone(), nil
}

// Complete implements Store.
func (m *Memory) Complete(_ context.Context, id job.ID, now time.Time) error {
	return m.end(id, job.Done, now, "")
}

// Retry implements Store.
func (m *Memory) Retry(_ context.Context, id job.ID, runAt time.Time, reason string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.find(id)
	if err != nil {
		return err
	}
	if err := j.Move(job.Pending); err != nil {
		return err
	}
	delete(m.leases, id)
	j.RunAt = runAt
	j.LastError = reason
	m.line(j.Queue).push(j)
	return nil
}

// Bury implements Store.
func (m *Memory) Bury(_ context.Context, id job.ID, now time.Time, reason string) error {
	return m.end(id, job.Dead, now, reason)
}

// Cancel implements Store.
func (m *Memory) Cancel(_ context.Context, id job.ID, now time.Time) error {
	return m.end(id, job.Cancelled, now, "")
}

// Expire implements Store.
func (m *Memory) Expire(_ context.Context, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	expired := 0
	for id, until := range m.leases {
		if until.After(now) {
			continue
		}
		j := m.jobs[id]
		if err := j.Move(job.Pending); err != nil {
			return expired, err
		}
		delete(m.leases, id)
		j.LastError = "lease expired"
		m.line(j.Queue).push(j)
		expired++
	}
	return expired, nil
}

// List implements Store.
func (m *Memory) List(_ context.Context, f Filter) ([]job.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	jobs := make([]job.Job, 0, len(m.jobs))
	for _, j := range m.jobs {
		jobs = append(jobs, *j)
	}
	return f.Apply(jobs), nil
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func (m *Memory) find(id job.ID) (*job.Job, error) {
	if m.closed {
		return nil, ErrClosed
	}
	j, ok := m.jobs[id]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return j, nil
}

func (m *Memory) line(queue string) *line {
	l, ok := m.lines[queue]
	if !ok {
		l = &line{}
		m.lines[queue] = l
	}
	return l
}

// end moves a job to a terminal state. An empty reason keeps the last error.
func (m *Memory) end(id job.ID, state job.State, now time.Time, reason string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, err := m.find(id)
	if err != nil {
		return err
	}
	waiting := j.State == job.Pending
	if err := j.Move(state); err != nil {
		return err
	}
	if waiting {
		m.line(j.Queue).remove(id)
	}
	delete(m.leases, id)
	if j.UniqueKey != "" {
		delete(m.unique, j.UniqueKey)
	}
	j.Finished = now
	if reason != "" {
		j.LastError = reason
	}
	return nil
}
