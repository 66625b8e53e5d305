package job

import (
	"fmt"
	"slices"
)

// State is where a job stands in its life.
type State string

// The states. A job begins as Pending and ends as Done, Dead or Cancelled.
const (
	Pending   State = "pending"
	Running   State = "running"
	Done      State = "done"
	Dead      State = "dead"
	Cancelled State = "cancelled"
)

// States lists every state in the order in which reports show them.
var States = []State{Pending, Running, Done, Dead, Cancelled}

var transitions = map[State][]State{
	Pending: {Running, Cancelled, Dead},
	Running: {Pending, Done, Dead, Cancelled},
}

// CanBecome reports whether a job in state s may move to next.
func (s State) CanBecome(next State) bool {
	return slices.Contains(transitions[s], next)
}

// Terminal reports whether s is the end of a job's life.
func (s State) Terminal() bool {
	return s == Done || s == Dead || s == Cancelled
}

// ParseState reads a state from its name.
func ParseState(text string) (State, error) {
	s := State(text)
	if !slices.Contains(States, s) {
		return "", fmt.Errorf("job: unknown state %q", text)
	}
	return s, nil
}

// TransitionError says that a job cannot move the way somebody wanted.
type TransitionError struct {
	ID       ID
	From, To State
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("job: %s is %s and cannot become %s", e.ID, e.From, e.To)
}

// Move changes the state of j, or says why that is not possible.
func (j *Job) Move(next State) error {
	if !j.State.CanBecome(next) {
		return &TransitionError{ID: j.ID, From: j.State, To: next}
	}
	j.State = next
	return nil
}
