package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/millrace/schedule"
)

const sound = `
# queues
[queue mail]
rate = 5/s
burst = 10
backoff = exponential:1s,max=5m
lease = 2m

[queue plain]

[recurring digest]
queue = mail
kind = send_digest
schedule = 0 7 * * mon-fri
catchup = skip
payload = a = b
`

func TestLoad(t *testing.T) {
	plan, err := Load(strings.NewReader(sound))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Queues) != 2 || plan.Queues[0].Name != "mail" || len(plan.Queues[0].Options) != 3 ||
		len(plan.Queues[1].Options) != 0 {
		t.Fatalf("queues: %+v", plan.Queues)
	}
	if len(plan.Recurring) != 1 {
		t.Fatalf("recurring: %+v", plan.Recurring)
	}
	entry := plan.Recurring[0].Entry
	j := entry.Make(time.Time{})
	if plan.Recurring[0].Queue != "mail" || entry.CatchUp != schedule.Skip || j.Kind != "send_digest" ||
		string(j.Payload) != "a = b" {
		t.Fatalf("entry %+v makes %+v", entry, j)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name, text, problem string
		line                int
	}{
		{"setting first", "rate = 1/s\n", "before the first section", 1},
		{"heading not closed", "[queue mail\n", "no heading", 1},
		{"heading of one word", "\n[queue]\n", "no heading", 2},
		{"no value", "[queue mail]\nrate =\n", "no setting", 2},
		{"set twice", "[queue mail]\nrate = 1/s\nrate = 2/s\n", "set twice", 3},
		{"section twice", "[queue mail]\n[queue mail]\n", "second section", 2},
		{"unknown section", "[topic mail]\n", "unknown kind", 1},
		{"unknown setting", "[queue mail]\ncolour = red\n", `no setting "colour"`, 2},
		{"bad rate", "[queue mail]\nrate = fast\n", "no slash", 2},
		{"bad burst", "[queue mail]\nrate = 1/s\nburst = 0\n", "cannot hold 0", 3},
		{"burst alone", "[queue mail]\nburst = 3\n", "without a rate", 2},
		{"bad backoff", "[queue mail]\n\nbackoff = never\n", "no colon", 3},
		{"bad lease", "[queue mail]\nlease = -1s\n", "no positive", 2},
		{"bad schedule", "[queue q]\n[recurring x]\nqueue = q\nschedule = now\n", "fields", 4},
		{"bad catchup", "[recurring x]\nschedule = @daily\ncatchup = maybe\n", "latest, every or skip", 3},
		{"bad place", "[recurring x]\nplace = No/Where\nschedule = @daily\n", "No/Where", 2},
		{"bad kind", "[recurring x]\nkind = a b\nschedule = @daily\n", "white space", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(strings.NewReader(tt.text))
			var fault *Error
			if !errors.As(err, &fault) || fault.Line != tt.line || !strings.Contains(fault.Problem, tt.problem) {
				t.Fatalf("error = %v, want line %d and %q", err, tt.line, tt.problem)
			}
		})
	}
}

func TestLoadRefusesAnUnknownQueue(t *testing.T) {
	_, err := Load(strings.NewReader("[recurring x]\nqueue = nowhere\nschedule = @daily\n"))
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Fatalf("error = %v", err)
	}
}

func TestSectionGet(t *testing.T) {
	sections, err := Parse(strings.NewReader("[a b]\nkey = value # not a comment\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := sections[0]
	if s.Get("key", "") != "value # not a comment" || s.Get("other", "fallback") != "fallback" {
		t.Fatalf("section: %+v", s)
	}
}
