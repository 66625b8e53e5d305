package codec

import (
	"encoding/base64"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"example.org/millrace/job"
)

const tagPrefix = "tag."

// EncodeJob writes a job as fields. Times are kept to the nanosecond and in
// UTC; what is empty or zero is left out.
func EncodeJob(j job.Job) Fields {
	var f Fields
	f.Add("id", string(j.ID))
	f.Add("queue", j.Queue)
	f.Add("kind", j.Kind)
	f.Add("state", string(j.State))
	f.Add("payload", base64.RawStdEncoding.EncodeToString(j.Payload))
	f.Add("priority", number(j.Priority))
	f.Add("attempts", number(j.Attempts))
	f.Add("max", number(j.MaxAttempts))
	f.Add("unique", j.UniqueKey)
	f.Add("created", Instant(j.Created))
	f.Add("at", Instant(j.RunAt))
	f.Add("finished", Instant(j.Finished))
	f.Add("error", j.LastError)
	names := make([]string, 0, len(j.Tags))
	for name := range j.Tags {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		f = append(f, Field{tagPrefix + name, j.Tags[name]})
	}
	return f
}

// DecodeJob reads what EncodeJob wrote. Unknown fields are an error: a line of
// a newer version must not be understood by halves.
func DecodeJob(f Fields) (job.Job, error) {
	var j job.Job
	for _, field := range f {
		if err := setField(&j, field); err != nil {
			return job.Job{}, fmt.Errorf("codec: job field %s: %w", field.Name, err)
		}
	}
	return j, nil
}

func setField(j *job.Job, f Field) (err error) {
	switch f.Name {
	case "id":
		j.ID, err = job.ParseID(f.Value)
	case "queue":
		j.Queue = f.Value
	case "kind":
		j.Kind = f.Value
	case "state":
		j.State, err = job.ParseState(f.Value)
	case "payload":
		j.Payload, err = base64.RawStdEncoding.DecodeString(f.Value)
	case "priority":
		j.Priority, err = strconv.Atoi(f.Value)
	case "attempts":
		j.Attempts, err = strconv.Atoi(f.Value)
	case "max":
		j.MaxAttempts, err = strconv.Atoi(f.Value)
	case "unique":
		j.UniqueKey = f.Value
	case "created":
		j.Created, err = ParseInstant(f.Value)
	case "at":
		j.RunAt, err = ParseInstant(f.Value)
	case "finished":
		j.Finished, err = ParseInstant(f.Value)
	case "error":
		j.LastError = f.Value
	default:
		name, isTag := strings.CutPrefix(f.Name, tagPrefix)
		if !isTag {
			return fmt.Errorf("unknown")
		}
		job.WithTag(name, f.Value)(j)
	}
	return err
}

// Instant writes a time as text; the zero time is the empty string.
func Instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ParseInstant reads what Instant wrote.
func ParseInstant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, text)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
