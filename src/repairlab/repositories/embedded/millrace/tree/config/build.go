package config

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"example.org/millrace/backoff"
	"example.org/millrace/cron"
	"example.org/millrace/job"
	"example.org/millrace/limit"
	"example.org/millrace/queue"
	"example.org/millrace/schedule"
)

// Plan is what a file describes.
type Plan struct {
	Queues    []QueuePlan
	Recurring []RecurringPlan
}

// QueuePlan is a queue and its options.
type QueuePlan struct {
	Name    string
	Options []queue.Option
}

// RecurringPlan is a recurring job and the queue that it goes to.
type RecurringPlan struct {
	Queue string
	Entry schedule.Entry
}

// Load reads a file and builds everything that it describes.
func Load(r io.Reader) (*Plan, error) {
	sections, err := Parse(r)
	if err != nil {
		return nil, err
	}
	plan := &Plan{}
	names := map[string]bool{}
	for _, s := range sections {
		switch s.Kind {
		case "queue":
			options, err := queueOptions(s)
			if err != nil {
				return nil, err
			}
			names[s.Name] = true
			plan.Queues = append(plan.Queues, QueuePlan{s.Name, options})
		case "recurring":
			entry, err := recurring(s)
			if err != nil {
				return nil, err
			}
			plan.Recurring = append(plan.Recurring, entry)
		default:
			return nil, &Error{s.Line, fmt.Sprintf("unknown kind of section %q", s.Kind)}
		}
	}
	for i, entry := range plan.Recurring {
		if !names[entry.Queue] {
			return nil, fmt.Errorf("config: recurring job %s names the unknown queue %q", plan.Recurring[i].Entry.Name, entry.Queue)
		}
	}
	return plan, nil
}

func queueOptions(s Section) ([]queue.Option, error) {
	if err := s.only("rate", "burst", "backoff", "lease"); err != nil {
		return nil, err
	}
	var options []queue.Option
	limiter, err := limiterOf(s)
	if err != nil {
		return nil, err
	}
	if limiter != nil {
		options = append(options, queue.WithLimiter(limiter))
	}
	if text := s.Get("backoff", ""); text != "" {
		policy, err := backoff.Parse(text)
		if err != nil {
			return nil, &Error{s.line("backoff"), err.Error()}
		}
		options = append(options, queue.WithBackoff(policy))
	}
	if text := s.Get("lease", ""); text != "" {
		lease, err := time.ParseDuration(text)
		if err != nil || lease <= 0 {
			return nil, &Error{s.line("lease"), fmt.Sprintf("%q is no positive duration", text)}
		}
		options = append(options, queue.WithLease(lease))
	}
	return options, nil
}

// limiterOf builds the bucket of a queue. Without a burst it holds one token.
func limiterOf(s Section) (limit.Limiter, error) {
	text := s.Get("rate", "")
	if text == "" {
		if s.Get("burst", "") != "" {
			return nil, &Error{s.line("burst"), "a burst without a rate"}
		}
		return nil, nil
	}
	rate, err := limit.ParseRate(text)
	if err != nil {
		return nil, &Error{s.line("rate"), err.Error()}
	}
	burst, err := strconv.Atoi(s.Get("burst", "1"))
	if err != nil {
		return nil, &Error{s.line("burst"), "the burst is no whole number"}
	}
	bucket, err := limit.NewBucket(rate, burst)
	if err != nil {
		return nil, &Error{s.line("burst"), err.Error()}
	}
	return bucket, nil
}

var catchUps = map[string]schedule.CatchUp{
	"latest": schedule.Latest, "every": schedule.Every, "skip": schedule.Skip,
}

func recurring(s Section) (RecurringPlan, error) {
	if err := s.only("queue", "kind", "schedule", "catchup", "place", "payload"); err != nil {
		return RecurringPlan{}, err
	}
	place, err := time.LoadLocation(s.Get("place", "UTC"))
	if err != nil {
		return RecurringPlan{}, &Error{s.line("place"), err.Error()}
	}
	parsed, err := cron.Parse(s.Get("schedule", ""), place)
	if err != nil {
		return RecurringPlan{}, &Error{s.line("schedule"), err.Error()}
	}
	catchUp, ok := catchUps[s.Get("catchup", "latest")]
	if !ok {
		return RecurringPlan{}, &Error{s.line("catchup"), "catchup is latest, every or skip"}
	}
	kind, payload := s.Get("kind", s.Name), []byte(s.Get("payload", ""))
	if err := job.New(kind, payload).Validate(); err != nil {
		return RecurringPlan{}, &Error{s.line("kind"), err.Error()}
	}
	return RecurringPlan{
		Queue: s.Get("queue", job.DefaultQueue),
		Entry: schedule.Entry{
			Name:     s.Name,
			Schedule: parsed,
			CatchUp:  catchUp,
			Make:     func(time.Time) job.Job { return job.New(kind, payload) },
		},
	}, nil
}
