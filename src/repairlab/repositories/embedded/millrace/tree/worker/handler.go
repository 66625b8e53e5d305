// Package worker runs handlers on the jobs of a queue.
package worker

import (
	"context"
	"fmt"
	"slices"

	"example.org/millrace/job"
	"example.org/millrace/queue"
)

// Handler does the work of one job. An error makes the job come back later,
// unless it is marked with queue.Permanent.
type Handler interface {
	Handle(ctx context.Context, j job.Job) error
}

// HandlerFunc is a function used as a Handler.
type HandlerFunc func(ctx context.Context, j job.Job) error

// Handle implements Handler.
func (f HandlerFunc) Handle(ctx context.Context, j job.Job) error { return f(ctx, j) }

// Mux sends each job to the handler of its kind. It is filled before the first
// job arrives and not changed afterwards.
type Mux struct {
	handlers map[string]Handler
	fallback Handler
}

// NewMux returns a Mux without handlers.
func NewMux() *Mux {
	return &Mux{handlers: map[string]Handler{}}
}

// On sets the handler of a kind. A second handler of the same kind is a
// mistake of the program, and panics.
func (m *Mux) On(kind string, h Handler) *Mux {
	if _, twice := m.handlers[kind]; twice {
		panic("worker: two handlers for kind " + kind)
	}
	m.handlers[kind] = h
	return m
}

// Otherwise sets the handler of all other kinds.
func (m *Mux) Otherwise(h Handler) *Mux {
	m.fallback = h
	return m
}

// Handle implements Handler. A job of an unknown kind fails for good.
func (m *Mux) Handle(ctx context.Context, j job.Job) error {
	if h, ok := m.handlers[j.Kind]; ok {
		return h.Handle(ctx, j)
	}
	if m.fallback != nil {
		return m.fallback.Handle(ctx, j)
	}
	return queue.Permanent(fmt.Errorf("worker: no handler for kind %q", j.Kind))
}

// Kinds lists the kinds that have a handler of their own.
func (m *Mux) Kinds() []string {
	kinds := make([]string, 0, len(m.handlers))
	for kind := range m.handlers {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}
