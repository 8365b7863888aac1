package reminder_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".v1.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// with is the golden file with some fields replaced; a nil value drops one.
func with(t testing.TB, name string, fields map[string]any) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(golden(t, name), &all); err != nil {
		t.Fatal(err)
	}
	for field, value := range fields {
		if all[field] = value; value == nil {
			delete(all, field)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// badBytes is what a decoder of any envelope must refuse, and how.
func badBytes(t testing.TB, name string) map[string]struct {
	data []byte
	want error
} {
	t.Helper()
	good := golden(t, name)
	deep := strings.Repeat(`{"key":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	return map[string]struct {
		data []byte
		want error
	}{
		"nothing":                           {nil, reminder.ErrMalformed},
		"null":                              {[]byte("null"), reminder.ErrMalformed},
		"an empty object":                   {[]byte("{}"), reminder.ErrMalformed},
		"an array":                          {[]byte("[]"), reminder.ErrMalformed},
		"not JSON":                          {[]byte("\x00\x01"), reminder.ErrMalformed},
		"10,000 levels of objects":          {[]byte(deep), reminder.ErrMalformed},
		"10,000 levels of arrays":           {[]byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), reminder.ErrMalformed},
		"one million open brackets":         {[]byte(strings.Repeat("[", 1_000_000)), reminder.ErrMalformed},
		"half of it":                        {good[:len(good)/2], reminder.ErrMalformed},
		"all but the last byte":             {[]byte(strings.TrimSpace(string(good)))[:len(strings.TrimSpace(string(good)))-1], reminder.ErrMalformed},
		"twice in a row":                    {append(append([]byte{}, good...), good...), reminder.ErrMalformed},
		"version 0":                         {with(t, name, map[string]any{"schemaVersion": 0}), reminder.ErrMalformed},
		"no version":                        {with(t, name, map[string]any{"schemaVersion": nil}), reminder.ErrMalformed},
		"a negative version":                {with(t, name, map[string]any{"schemaVersion": -1}), reminder.ErrMalformed},
		"a version that is text":            {with(t, name, map[string]any{"schemaVersion": "1"}), reminder.ErrMalformed},
		"a newer version":                   {with(t, name, map[string]any{"schemaVersion": 2}), reminder.ErrNewerSchema},
		"a newer version with other types":  {with(t, name, map[string]any{"schemaVersion": 2, "key": "shop/x"}), reminder.ErrNewerSchema},
		"two versions, the last one newer":  {[]byte(strings.TrimSuffix(strings.TrimSpace(string(good)), "}") + `,"schemaVersion":2}`), reminder.ErrNewerSchema},
		"a key of another type":             {with(t, name, map[string]any{"key": 7}), reminder.ErrMalformed},
		"no key":                            {with(t, name, map[string]any{"key": nil}), reminder.ErrMalformed},
		"a time that is none":               {with(t, name, map[string]any{"releaseTime": "yesterday"}), reminder.ErrMalformed},
		"a key with a slot in another form": {with(t, name, map[string]any{"key": map[string]string{"namespace": "n", "schedule": "s", "slot": "tomorrow", "recipient": "r", "channel": "c"}}), reminder.ErrMalformed},
		"a key with a part that is empty":   {with(t, name, map[string]any{"key": map[string]string{"namespace": "n", "schedule": "s", "slot": "2026-11-03", "recipient": "r"}}), reminder.ErrMalformed},
	}
}

func TestDecodeJobRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range badBytes(t, "job") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j, err := reminder.DecodeJob(tt.data); !errors.Is(err, tt.want) || j != (reminder.Job{}) {
				t.Errorf("got %+v, %v; want nothing, %v", j, err, tt.want)
			}
		})
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	t.Parallel()
	tests := badBytes(t, "record")
	for name, fields := range map[string]map[string]any{
		"a state that does not exist":      {"state": "Sleeping"},
		"a state in another case":          {"state": "sent"},
		"a deadline at the release":        {"deadlineTime": "2026-11-03T08:00:00Z"},
		"a deadline before the release":    {"deadlineTime": "2026-11-03T07:00:00Z"},
		"no release":                       {"releaseTime": nil},
		"attempts that are not a number":   {"attempts": "2"},
		"attempts beyond the number range": {"attempts": 1e30},
	} {
		tests[name] = struct {
			data []byte
			want error
		}{with(t, "record", fields), reminder.ErrMalformed}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := reminder.DecodeRecord(tt.data)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(reminder.Record{}, r); diff != "" {
				t.Errorf("answered a record beside the error:\n%s", diff)
			}
		})
	}
}

func TestUnknownFieldsOfTheSameVersionAreIgnored(t *testing.T) {
	t.Parallel()
	r, err := reminder.DecodeRecord(with(t, "record", map[string]any{"colour": "green"}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleRecord(), r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfTwoFieldsOfOneNameTheLastCounts(t *testing.T) {
	t.Parallel()
	data := strings.Replace(string(golden(t, "record")), "{", `{"state": "Sent", "schemaVersion": 2, "attempts": 77,`, 1)
	r, err := reminder.DecodeRecord([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleRecord(), r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*reminder.Record){
		"no version":      func(r *reminder.Record) { r.SchemaVersion = 0 },
		"a newer version": func(r *reminder.Record) { r.SchemaVersion = 2 },
		"no state":        func(r *reminder.Record) { r.State = "" },
		"no deadline":     func(r *reminder.Record) { r.DeadlineTime = time.Time{} },
		"no recipient":    func(r *reminder.Record) { r.Key.Recipient = "" },
		"a broken key":    func(r *reminder.Record) { r.Key.Recipient = "\xff" },
		"the year 10000":  func(r *reminder.Record) { r.DeadlineTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sampleRecord()
			change(&r)
			if data, err := r.Encode(); err == nil {
				t.Errorf("encoded to %s", data)
			}
		})
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(golden(f, "record"))
	for _, bad := range badBytes(f, "record") {
		if len(bad.data) < 10_000 {
			f.Add(bad.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := reminder.DecodeRecord(data)
		if err != nil {
			if !errors.Is(err, reminder.ErrMalformed) && !errors.Is(err, reminder.ErrNewerSchema) {
				t.Fatalf("%v is neither ErrMalformed nor ErrNewerSchema", err)
			}
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := reminder.DecodeRecord(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

func FuzzDecodeJob(f *testing.F) {
	f.Add(golden(f, "job"))
	for _, bad := range badBytes(f, "job") {
		if len(bad.data) < 10_000 {
			f.Add(bad.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := reminder.DecodeJob(data)
		if err != nil {
			if !errors.Is(err, reminder.ErrMalformed) && !errors.Is(err, reminder.ErrNewerSchema) {
				t.Fatalf("%v is neither ErrMalformed nor ErrNewerSchema", err)
			}
			return
		}
		if err := j.Key.Validate(); err != nil {
			t.Fatalf("answered a job that names no reminder: %v", err)
		}
		again, err := j.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := reminder.DecodeJob(again); err != nil || back.Key.Token() != j.Key.Token() {
			t.Fatalf("%+v came back as %+v, %v", j, back, err)
		}
	})
}
