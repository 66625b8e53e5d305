package job

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2024, time.May, 4, 12, 0, 0, 0, time.UTC)

func TestNewDefaults(t *testing.T) {
	j := New("mail", []byte("hello"))
	if j.Queue != DefaultQueue || j.State != Pending || j.MaxAttempts != DefaultMaxAttempts {
		t.Fatalf("unexpected defaults: %+v", j)
	}
}

func TestOptions(t *testing.T) {
	j := New("mail", nil, OnQueue("slow"), WithPriority(7), WithMaxAttempts(2),
		WithTag("team", "ops"), Unique("mail:1"), At(noon))
	if j.Queue != "slow" || j.Priority != 7 || j.MaxAttempts != 2 || j.Tags["team"] != "ops" ||
		j.UniqueKey != "mail:1" || !j.RunAt.Equal(noon) {
		t.Fatalf("options were not applied: %+v", j)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	j := New("mail", []byte("abc"), WithTag("k", "v"))
	c := j.Clone()
	c.Payload[0] = 'x'
	c.Tags["k"] = "changed"
	if string(j.Payload) != "abc" || j.Tags["k"] != "v" {
		t.Fatalf("the original changed: %+v", j)
	}
}

func TestDue(t *testing.T) {
	tests := []struct {
		name  string
		state State
		runAt time.Time
		want  bool
	}{
		{"past", Pending, noon.Add(-time.Second), true},
		{"exactly now", Pending, noon, true},
		{"future", Pending, noon.Add(time.Nanosecond), false},
		{"running", Running, noon.Add(-time.Hour), false},
		{"dead", Dead, noon.Add(-time.Hour), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := Job{State: tt.state, RunAt: tt.runAt}
			if got := j.Due(noon); got != tt.want {
				t.Fatalf("Due = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAge(t *testing.T) {
	j := Job{State: Pending, Created: noon}
	if got := j.Age(noon.Add(time.Hour)); got != time.Hour {
		t.Fatalf("Age of a pending job = %v", got)
	}
	j.State, j.Finished = Done, noon.Add(time.Minute)
	if got := j.Age(noon.Add(time.Hour)); got != time.Minute {
		t.Fatalf("Age of a finished job = %v", got)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name    string
		job     Job
		problem string
	}{
		{"sound", New("mail", nil), ""},
		{"no kind", New("", nil), "no kind"},
		{"space in kind", New("send mail", nil), "white space"},
		{"no queue", New("mail", nil, OnQueue("")), "no queue"},
		{"no attempts", New("mail", nil, WithMaxAttempts(0)), "0 attempts"},
		{"large", New("mail", make([]byte, MaxPayload+1)), "over"},
		{"nameless tag", New("mail", nil, WithTag("", "x")), "without a name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.job.Validate()
			if tt.problem == "" {
				if err != nil {
					t.Fatalf("unexpected error: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.problem) {
				t.Fatalf("error = %v, want one about %q", err, tt.problem)
			}
		})
	}
}

func TestMove(t *testing.T) {
	tests := []struct {
		from, to State
		ok       bool
	}{
		{Pending, Running, true},
		{Pending, Done, false},
		{Running, Pending, true},
		{Running, Done, true},
		{Done, Pending, false},
		{Cancelled, Running, false},
	}
	for _, tt := range tests {
		t.Run(string(tt.from)+" to "+string(tt.to), func(t *testing.T) {
			j := Job{ID: "x", State: tt.from}
			err := j.Move(tt.to)
			if (err == nil) != tt.ok {
				t.Fatalf("Move = %v, want ok %v", err, tt.ok)
			}
			var transition *TransitionError
			if err != nil && !errors.As(err, &transition) {
				t.Fatalf("error is a %T", err)
			}
		})
	}
}

func TestParseState(t *testing.T) {
	for _, s := range States {
		if got, err := ParseState(string(s)); err != nil || got != s {
			t.Fatalf("ParseState(%q) = %q, %v", s, got, err)
		}
	}
	if _, err := ParseState("asleep"); err == nil {
		t.Fatal("an unknown state was taken")
	}
}
