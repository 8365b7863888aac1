package reminder

import (
	"encoding/json"
	"fmt"
	"time"
)

// JobVersion is the schemaVersion of due jobs that this version writes and the
// newest that it reads.
const JobVersion = 1

// Job is the envelope of a due job: it tells workers that a reminder is due. It
// carries neither an address nor a text, and it is only a hint: a worker acts
// on the ledger's record alone.
type Job struct {
	SchemaVersion int `json:"schemaVersion"`
	Key           Key `json:"key"`
	// LedgerRevision is the record's revision when the job was written.
	LedgerRevision uint64    `json:"ledgerRevision"`
	ReleaseTime    time.Time `json:"releaseTime"`
	DeadlineTime   time.Time `json:"deadlineTime"`
	// TraceParent is a W3C trace context; empty when tracing is off.
	TraceParent string `json:"traceparent,omitempty"`
}

// JobOf is the job for a record at a revision. When it is due is not in it: the
// broker releases it then, and the worker reads the record.
func JobOf(r Record, revision uint64) Job {
	return Job{SchemaVersion: JobVersion, Key: r.Key, LedgerRevision: revision, ReleaseTime: r.ReleaseTime, DeadlineTime: r.DeadlineTime}
}

// Encode is the body of the due job's message.
func (j Job) Encode() ([]byte, error) {
	if err := j.Key.Validate(); err != nil {
		return nil, fmt.Errorf("encode job %s: %w", j.Key, err)
	}
	return json.Marshal(j)
}

// DecodeJob reads the body of a due job. It answers ErrNewerSchema or ErrMalformed.
func DecodeJob(data []byte) (Job, error) {
	var j Job
	if err := decode(data, JobVersion, &j); err != nil {
		return Job{}, fmt.Errorf("decode job: %w", err)
	}
	if err := j.Key.Validate(); err != nil {
		return Job{}, fmt.Errorf("decode job: %w", err)
	}
	return j, nil
}
