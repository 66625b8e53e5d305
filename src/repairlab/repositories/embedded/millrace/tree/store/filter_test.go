package store

import (
	"reflect"
	"testing"
	"time"

	"example.org/millrace/job"
)

func TestFilterMatch(t *testing.T) {
	j := job.New("mail", nil, job.OnQueue("slow"), job.WithTag("team", "ops"))
	tests := []struct {
		name   string
		filter Filter
		want   bool
	}{
		{"everything", Filter{}, true},
		{"queue", Filter{Queue: "slow"}, true},
		{"other queue", Filter{Queue: "fast"}, false},
		{"other kind", Filter{Kind: "sms"}, false},
		{"state", Filter{States: []job.State{job.Dead, job.Pending}}, true},
		{"other state", Filter{States: []job.State{job.Dead}}, false},
		{"tag", Filter{Tags: map[string]string{"team": "ops"}}, true},
		{"other tag value", Filter{Tags: map[string]string{"team": "web"}}, false},
		{"absent tag", Filter{Tags: map[string]string{"owner": ""}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.filter.Match(j); got != tt.want {
				t.Fatalf("Match = %v", got)
			}
		})
	}
}

func TestFilterApplySorts(t *testing.T) {
	jobs := []job.Job{
		{ID: "c", Created: start},
		{ID: "a", Created: start.Add(time.Second)},
		{ID: "b", Created: start},
	}
	got := Filter{Limit: 2}.Apply(jobs)
	if len(got) != 2 || got[0].ID != "b" || got[1].ID != "c" {
		t.Fatalf("Apply = %v", got)
	}
}

func TestParseFilter(t *testing.T) {
	got, err := ParseFilter([]string{"queue=mail", "state=pending,dead", "tag:team=ops", "limit=3", "kind=x"})
	want := Filter{
		Queue: "mail", Kind: "x", States: []job.State{job.Pending, job.Dead},
		Tags: map[string]string{"team": "ops"}, Limit: 3,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("ParseFilter = %+v, %v", got, err)
	}
}

func TestParseFilterRefuses(t *testing.T) {
	tests := []struct{ name, word string }{
		{"no value", "queue="}, {"no sign", "queue"}, {"unknown", "colour=red"},
		{"state", "state=asleep"}, {"limit", "limit=0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f, err := ParseFilter([]string{tt.word}); err == nil {
				t.Fatalf("ParseFilter = %+v", f)
			}
		})
	}
}
