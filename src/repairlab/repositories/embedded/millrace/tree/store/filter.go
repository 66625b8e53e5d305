package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/millrace/job"
)

// Filter selects jobs. A zero field lets everything through.
type Filter struct {
	Queue  string
	Kind   string
	States []job.State
	Tags   map[string]string
	// Limit is the most jobs to return; zero means all.
	Limit int
}

// Match reports whether the filter lets j through. It does not look at Limit.
func (f Filter) Match(j job.Job) bool {
	if f.Queue != "" && f.Queue != j.Queue {
		return false
	}
	if f.Kind != "" && f.Kind != j.Kind {
		return false
	}
	if len(f.States) > 0 && !slices.Contains(f.States, j.State) {
		return false
	}
	for name, value := range f.Tags {
		if got, ok := j.Tags[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// Apply returns the jobs that the filter lets through, the oldest first.
func (f Filter) Apply(jobs []job.Job) []job.Job {
	var out []job.Job
	for _, j := range jobs {
		if f.Match(j) {
			out = append(out, j.Clone())
		}
	}
	slices.SortFunc(out, func(a, b job.Job) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[:f.Limit]
	}
	return out
}

// ParseFilter reads a filter from words such as
//
//	queue=mail state=pending,running tag:team=ops limit=20
func ParseFilter(words []string) (Filter, error) {
	var f Filter
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || value == "" {
			return Filter{}, fmt.Errorf("store: %q is no condition", word)
		}
		if err := f.set(name, value); err != nil {
			return Filter{}, err
		}
	}
	return f, nil
}

func (f *Filter) set(name, value string) error {
	if tag, ok := strings.CutPrefix(name, "tag:"); ok {
		if f.Tags == nil {
			f.Tags = map[string]string{}
		}
		f.Tags[tag] = value
		return nil
	}
	switch name {
	case "queue":
		f.Queue = value
	case "kind":
		f.Kind = value
	case "state":
		for _, text := range strings.Split(value, ",") {
			s, err := job.ParseState(text)
			if err != nil {
				return err
			}
			f.States = append(f.States, s)
		}
	case "limit":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("store: limit %q is no whole number from 1", value)
		}
		f.Limit = n
	default:
		return fmt.Errorf("store: a job has no %q to select by", name)
	}
	return nil
}
