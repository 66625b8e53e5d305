package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/millrace/clock"
)

var start = time.Date(2024, time.June, 3, 8, 0, 0, 0, time.UTC)

// cli runs commands on one journal and returns what they print.
type cli struct {
	t     *testing.T
	path  string
	clock *clock.Manual
}

func newCLI(t *testing.T) *cli {
	return &cli{t, filepath.Join(t.TempDir(), "test.journal"), clock.NewManual(start)}
}

func (c *cli) try(args ...string) (string, error) {
	var out strings.Builder
	err := run(context.Background(), append([]string{"-journal", c.path}, args...), c.clock, &out)
	return out.String(), err
}

func (c *cli) run(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

func TestEnqueueAndList(t *testing.T) {
	c := newCLI(t)
	id := strings.TrimSpace(c.run("enqueue", "welcome", "hello", "queue=mail", "attempts=3"))
	c.clock.Advance(time.Second)
	c.run("enqueue", "report")
	got := c.run("list", "queue=mail")
	want := "ID              QUEUE  KIND     STATE    ATTEMPTS  DUE\n" +
		id + "  mail   welcome  pending  0/3       2024-06-03T08:00:00Z\n"
	if got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
	if got := c.run("list"); strings.Count(got, "\n") != 3 {
		t.Fatalf("list of all:\n%s", got)
	}
}

func TestShowAndCancel(t *testing.T) {
	c := newCLI(t)
	id := strings.TrimSpace(c.run("enqueue", "welcome"))
	c.clock.Advance(90 * time.Second)
	if got := c.run("show", id); !strings.Contains(got, "age       1m30s\n") {
		t.Fatalf("show:\n%s", got)
	}
	c.run("cancel", id)
	if got := c.run("show", id); !strings.Contains(got, "state     cancelled\n") {
		t.Fatalf("show after cancel:\n%s", got)
	}
}

func TestStats(t *testing.T) {
	c := newCLI(t)
	c.run("enqueue", "a")
	c.run("cancel", strings.TrimSpace(c.run("enqueue", "b")))
	want := "pending    1\nrunning    0\ndone       0\ndead       0\ncancelled  1\n"
	if got := c.run("stats"); got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
	if got := c.run("stats", "elsewhere"); strings.Contains(got, "1") {
		t.Fatalf("stats of another queue:\n%s", got)
	}
}

func TestCompact(t *testing.T) {
	c := newCLI(t)
	c.run("cancel", strings.TrimSpace(c.run("enqueue", "old")))
	c.clock.Advance(8 * 24 * time.Hour)
	c.run("enqueue", "new")
	if got := c.run("compact"); got != "1 records, 3 before\n" {
		t.Fatalf("compact: %q", got)
	}
}

func TestCron(t *testing.T) {
	c := newCLI(t)
	got := c.run("cron", "30 6 * * mon")
	if !strings.HasPrefix(got, "Mon 2024-06-10 06:30\n") || strings.Count(got, "\n") != 5 {
		t.Fatalf("cron:\n%s", got)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name string
		args []string
	}{
		{"no command", nil},
		{"unknown command", []string{"dance"}},
		{"enqueue nothing", []string{"enqueue"}},
		{"unknown option", []string{"enqueue", "a", "colour=red"}},
		{"bad number", []string{"enqueue", "a", "priority=high"}},
		{"bad filter", []string{"list", "colour=red"}},
		{"no id", []string{"show"}},
		{"bad schedule", []string{"cron", "now"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := newCLI(t).try(tt.args...); !errors.Is(err, errUsage) {
				t.Fatalf("%q, %v", out, err)
			}
		})
	}
}
