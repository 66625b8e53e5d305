// Package job holds the unit of work that everything else passes around.
package job

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// DefaultMaxAttempts is how often a job is tried when nothing else is said.
const DefaultMaxAttempts = 5

// DefaultQueue is the queue of a job that names none.
const DefaultQueue = "default"

// MaxPayload is the largest payload that a job may carry, in bytes.
const MaxPayload = 1 << 20

// ErrInvalid is wrapped by every error of Validate.
var ErrInvalid = errors.New("job: invalid")

// Job is one piece of work. It is a plain value: stores hand out copies.
type Job struct {
	ID      ID
	Queue   string
	Kind    string
	Payload []byte
	Tags    map[string]string

	// Priority orders jobs that are due; the larger number goes first.
	Priority int
	State    State

	// Attempts counts how often the job was handed to a worker.
	Attempts    int
	MaxAttempts int

	// UniqueKey, when set, keeps a second job with the same key out of the
	// queue until this one has ended.
	UniqueKey string

	Created  time.Time
	RunAt    time.Time
	Finished time.Time

	// LastError is what the latest failed attempt said.
	LastError string
}

// Option changes a job while it is made.
type Option func(*Job)

// OnQueue puts the job on a named queue.
func OnQueue(name string) Option { return func(j *Job) { j.Queue = name } }

// WithPriority sets the priority.
func WithPriority(p int) Option { return func(j *Job) { j.Priority = p } }

// WithMaxAttempts sets how often the job may be tried.
func WithMaxAttempts(n int) Option { return func(j *Job) { j.MaxAttempts = n } }

// WithTag adds one tag.
func WithTag(key, value string) Option {
	return func(j *Job) {
		if j.Tags == nil {
			j.Tags = make(map[string]string)
		}
		j.Tags[key] = value
	}
}

// Unique sets the key that keeps doubles out.
func Unique(key string) Option { return func(j *Job) { j.UniqueKey = key } }

// At makes the job due at a later instant.
func At(t time.Time) Option { return func(j *Job) { j.RunAt = t } }

// New makes a pending job of the given kind. Its id, and its times where no
// option set them, are filled in by the queue that takes it.
func New(kind string, payload []byte, options ...Option) Job {
	j := Job{
		Queue:       DefaultQueue,
		Kind:        kind,
		Payload:     slices.Clone(payload),
		State:       Pending,
		MaxAttempts: DefaultMaxAttempts,
	}
	for _, option := range options {
		option(&j)
	}
	return j
}

// Clone returns a copy that shares no memory with j.
func (j Job) Clone() Job {
	j.Payload = slices.Clone(j.Payload)
	j.Tags = maps.Clone(j.Tags)
	return j
}

// Due reports whether a pending job may be handed out at now.
func (j Job) Due(now time.Time) bool {
	return j.State == Pending && !j.RunAt.After(now)
}

// Exhausted reports whether every allowed attempt was used.
func (j Job) Exhausted() bool {
	return j.Attempts >= j.MaxAttempts
}

// Age is the time since the job was created, or its whole life once it ended.
func (j Job) Age(now time.Time) time.Duration {
	if j.State.Terminal() {
		return j.Finished.Sub(j.Created)
	}
	return now.Sub(j.Created)
}

// Validate refuses jobs that no store should take.
func (j Job) Validate() error {
	switch {
	case j.Kind == "":
		return fmt.Errorf("%w: no kind", ErrInvalid)
	case strings.ContainsAny(j.Kind, " \t\r\n"):
		return fmt.Errorf("%w: white space in kind %q", ErrInvalid, j.Kind)
	case j.Queue == "":
		return fmt.Errorf("%w: no queue", ErrInvalid)
	case j.MaxAttempts < 1:
		return fmt.Errorf("%w: %d attempts allowed", ErrInvalid, j.MaxAttempts)
	case len(j.Payload) > MaxPayload:
		return fmt.Errorf("%w: payload of %d bytes is over %d", ErrInvalid, len(j.Payload), MaxPayload)
	}
	for key := range j.Tags {
		if key == "" {
			return fmt.Errorf("%w: a tag without a name", ErrInvalid)
		}
	}
	return nil
}
