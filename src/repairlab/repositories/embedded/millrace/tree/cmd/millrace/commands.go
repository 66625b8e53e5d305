package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.org/millrace/cron"
	"example.org/millrace/job"
	"example.org/millrace/queue"
	"example.org/millrace/store"
)

// keepEnded is how long compact keeps jobs that have ended.
const keepEnded = 7 * 24 * time.Hour

var commands = map[string]func(context.Context, *app, []string) error{
	"enqueue": enqueue,
	"list":    list,
	"show":    show,
	"cancel":  cancel,
	"stats":   stats,
	"compact": compact,
	"cron":    upcoming,
}

func enqueue(ctx context.Context, a *app, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: enqueue needs a kind", errUsage)
	}
	kind, args := args[0], args[1:]
	var payload []byte
	if len(args) > 0 && !strings.Contains(args[0], "=") {
		payload, args = []byte(args[0]), args[1:]
	}
	name, options, err := jobOptions(args)
	if err != nil {
		return err
	}
	q := queue.New(name, a.store, queue.WithClock(a.clock))
	j, err := q.Enqueue(ctx, job.New(kind, payload, options...))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, j.ID)
	return err
}

func jobOptions(args []string) (name string, options []job.Option, err error) {
	name = job.DefaultQueue
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "queue":
			name = value
		case "unique":
			options = append(options, job.Unique(value))
		case "priority", "attempts":
			n, err := strconv.Atoi(value)
			if err != nil {
				return "", nil, fmt.Errorf("%w: %s is a whole number", errUsage, key)
			}
			if key == "priority" {
				options = append(options, job.WithPriority(n))
			} else {
				options = append(options, job.WithMaxAttempts(n))
			}
		default:
			return "", nil, fmt.Errorf("%w: enqueue knows no %q", errUsage, key)
		}
	}
	return name, options, nil
}

func list(ctx context.Context, a *app, args []string) error {
	filter, err := store.ParseFilter(args)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	jobs, err := a.store.List(ctx, filter)
	if err != nil {
		return err
	}
	t := table{header: []string{"ID", "QUEUE", "KIND", "STATE", "ATTEMPTS", "DUE"}}
	for _, j := range jobs {
		due := "-"
		if j.State == job.Pending {
			due = j.RunAt.UTC().Format(time.RFC3339)
		}
		t.add(string(j.ID), j.Queue, j.Kind, string(j.State), fmt.Sprintf("%d/%d", j.Attempts, j.MaxAttempts), due)
	}
	return t.write(a.out)
}

func show(ctx context.Context, a *app, args []string) error {
	id, err := oneID(args)
	if err != nil {
		return err
	}
	j, err := a.store.Get(ctx, id)
	if err != nil {
		return err
	}
	t := table{}
	t.add("id", string(j.ID))
	t.add("queue", j.Queue)
	t.add("kind", j.Kind)
	t.add("state", string(j.State))
	t.add("attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts))
	t.add("created", j.Created.UTC().Format(time.RFC3339))
	t.add("age", j.Age(a.clock.Now()).Round(time.Second).String())
	if j.LastError != "" {
		t.add("error", strconv.Quote(j.LastError))
	}
	return t.write(a.out)
}

func cancel(ctx context.Context, a *app, args []string) error {
	id, err := oneID(args)
	if err != nil {
		return err
	}
	return a.store.Cancel(ctx, id, a.clock.Now())
}

func stats(ctx context.Context, a *app, args []string) error {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	counts, err := store.Count(ctx, a.store, name)
	if err != nil {
		return err
	}
	t := table{}
	for _, state := range job.States {
		t.add(string(state), strconv.Itoa(counts[state]))
	}
	return t.write(a.out)
}

func compact(ctx context.Context, a *app, _ []string) error {
	before, now := a.store.Records(), a.clock.Now()
	err := a.store.Compact(ctx, func(j job.Job) bool { return now.Sub(j.Finished) < keepEnded })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%d records, %d before\n", a.store.Records(), before)
	return err
}

func upcoming(_ context.Context, a *app, args []string) error {
	s, err := cron.Parse(strings.Join(args, " "), nil)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	now := a.clock.Now()
	for _, at := range s.Between(now, now.AddDate(5, 0, 0), 5) {
		if _, err := fmt.Fprintln(a.out, at.Format("Mon 2006-01-02 15:04")); err != nil {
			return err
		}
	}
	return nil
}

func oneID(args []string) (job.ID, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("%w: one id is needed", errUsage)
	}
	return job.ParseID(args[0])
}
