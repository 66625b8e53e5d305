// Package schedule puts jobs on a queue at the instants of a cron schedule.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/millrace/cron"
	"example.org/millrace/job"
	"example.org/millrace/store"
)

// Enqueuer takes jobs; *queue.Queue is one.
type Enqueuer interface {
	Enqueue(ctx context.Context, j job.Job) (job.Job, error)
}

// CatchUp says what becomes of instants that went by while nobody looked.
type CatchUp int

const (
	// Latest makes one job for all missed instants. It is the default.
	Latest CatchUp = iota
	// Every makes a job for each missed instant, at most MaxMissed of them.
	Every
	// Skip makes a job only for an instant that is less than a minute past.
	Skip
)

// MaxMissed is the most jobs that one entry makes in one Tick.
const MaxMissed = 100

// TagInstant is the tag in which a job finds the instant that it was made for.
const TagInstant = "scheduled_for"

// Entry is a recurring job.
type Entry struct {
	Name     string
	Schedule *cron.Schedule
	CatchUp  CatchUp
	// Make returns the job for one instant.
	Make func(at time.Time) job.Job
}

// Scheduler holds entries. It is used by one goroutine.
type Scheduler struct {
	queue   Enqueuer
	entries []*state
}

type state struct {
	Entry
	last time.Time // everything up to this instant has been dealt with
}

// New returns a scheduler without entries.
func New(q Enqueuer) *Scheduler {
	return &Scheduler{queue: q}
}

// Add takes an entry. Its first instant is the first one after now.
func (s *Scheduler) Add(e Entry, now time.Time) error {
	if e.Name == "" || e.Schedule == nil || e.Make == nil {
		return fmt.Errorf("schedule: entry %q is not complete", e.Name)
	}
	for _, other := range s.entries {
		if other.Name == e.Name {
			return fmt.Errorf("schedule: two entries are called %q", e.Name)
		}
	}
	s.entries = append(s.entries, &state{Entry: e, last: now})
	return nil
}

// Tick enqueues what has come due up to now, and returns how many jobs it
// made. Each job carries a unique key of entry and instant, so that several
// schedulers may work on one store: a job that is there already is no error.
func (s *Scheduler) Tick(ctx context.Context, now time.Time) (int, error) {
	made := 0
	for _, e := range s.entries {
		for _, at := range e.due(now) {
			j := e.Make(at)
			job.Unique(e.Name + "@" + at.UTC().Format(time.RFC3339))(&j)
			job.WithTag(TagInstant, at.UTC().Format(time.RFC3339))(&j)
			_, err := s.queue.Enqueue(ctx, j)
			if errors.Is(err, store.ErrDuplicate) {
				continue
			}
			if err != nil {
				return made, fmt.Errorf("schedule: entry %s: %w", e.Name, err)
			}
			made++
		}
		e.last = now
	}
	return made, nil
}

// due lists the instants since the last Tick that are to become jobs.
func (e *state) due(now time.Time) []time.Time {
	if e.CatchUp == Every {
		return e.Schedule.Between(e.last, now, MaxMissed)
	}
	latest := e.Schedule.Previous(now)
	if !latest.After(e.last) {
		return nil
	}
	if e.CatchUp == Skip && now.Sub(latest) >= time.Minute {
		return nil
	}
	return []time.Time{latest}
}

// Upcoming is the next instant of an entry.
type Upcoming struct {
	Name string
	At   time.Time
}

// Next lists the next instant of each entry after now, the earliest first.
// Entries that have none are left out.
func (s *Scheduler) Next(now time.Time) []Upcoming {
	var out []Upcoming
	for _, e := range s.entries {
		if at := e.Schedule.Next(now); !at.IsZero() {
			out = append(out, Upcoming{e.Name, at})
		}
	}
	slices.SortFunc(out, func(a, b Upcoming) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name))
	})
	return out
}
