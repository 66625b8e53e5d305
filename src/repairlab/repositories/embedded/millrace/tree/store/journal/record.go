package journal

import (
	"fmt"
	"time"

	"example.org/millrace/codec"
	"example.org/millrace/job"
)

// op says what a record does to a job.
type op string

const (
	opPut    op = "put"
	opRetry  op = "retry"
	opDone   op = "done"
	opDead   op = "dead"
	opCancel op = "cancel"
)

// record is one line of a journal. A put holds a whole job; every other record
// names a job and holds what changed.
type record struct {
	op     op
	job    job.Job // put only
	id     job.ID
	at     time.Time // the new due time of a retry, otherwise when the job ended
	reason string
}

// encode writes the record as a line without its line break.
func (r record) encode() (string, error) {
	fields := codec.Fields{{Name: "op", Value: string(r.op)}}
	if r.op == opPut {
		fields = append(fields, codec.EncodeJob(r.job)...)
		return fields.Encode()
	}
	fields.Add("id", string(r.id))
	fields.Add("at", codec.Instant(r.at))
	fields.Add("reason", r.reason)
	return fields.Encode()
}

// decode reads a line.
func decode(line string) (record, error) {
	fields, err := codec.Decode(line)
	if err != nil {
		return record{}, err
	}
	if len(fields) == 0 || fields[0].Name != "op" {
		return record{}, fmt.Errorf("journal: a record begins with its op, not with %q", line)
	}
	r := record{op: op(fields[0].Value)}
	switch r.op {
	case opPut:
		r.job, err = codec.DecodeJob(fields[1:])
		r.id = r.job.ID
		return r, err
	case opRetry, opDone, opDead, opCancel:
		return r, r.setFields(fields[1:])
	}
	return record{}, fmt.Errorf("journal: unknown op %q", r.op)
}

func (r *record) setFields(fields codec.Fields) (err error) {
	for _, f := range fields {
		switch f.Name {
		case "id":
			r.id, err = job.ParseID(f.Value)
		case "at":
			r.at, err = codec.ParseInstant(f.Value)
		case "reason":
			r.reason = f.Value
		default:
			err = fmt.Errorf("journal: a %s record has no field %q", r.op, f.Name)
		}
		if err != nil {
			return err
		}
	}
	if r.id == "" {
		return fmt.Errorf("journal: a %s record names no job", r.op)
	}
	return nil
}
