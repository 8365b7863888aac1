package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// Each case is a failure that was reported of another system; the letter and number name its kind.
func TestOccurrencesThatOthersGetWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec  schedule.Spec
		after string
		want  []string
	}{
		"T1: a daily time that the clocks skip is not lost": {
			spec:  schedule.Spec{Cron: "0 2 * * *", TimeZone: "America/Los_Angeles"},
			after: "2025-03-08T12:00:00Z",
			want:  []string{"2025-03-09T10:00:00Z", "2025-03-10T09:00:00Z"},
		},
		"T1, T2: a skipped half hour is read with the offset before the gap, never earlier": {
			spec:  schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York"},
			after: "2026-03-07T12:00:00Z",
			want:  []string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"},
		},
		"T3: a daily time that the clocks show twice occurs once": {
			spec:  schedule.Spec{Cron: "0 2 * * *", TimeZone: "Europe/Berlin"},
			after: "2026-10-24T12:00:00Z",
			want:  []string{"2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"},
		},
		"T3: overlap Last takes the second pass": {
			spec:  schedule.Spec{Cron: "0 2 * * *", TimeZone: "Europe/Berlin", Overlap: schedule.OverlapLast},
			after: "2026-10-24T12:00:00Z",
			want:  []string{"2026-10-25T01:00:00Z", "2026-10-26T01:00:00Z"},
		},
		"T3: overlap Both takes both, with two due times": {
			spec:  schedule.Spec{Cron: "0 2 * * *", TimeZone: "Europe/Berlin", Overlap: schedule.OverlapBoth},
			after: "2026-10-24T12:00:00Z",
			want:  []string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-26T01:00:00Z"},
		},
		"T6: an interval runs on through the repeated hour": {
			spec:  schedule.Spec{Cron: "*/30 * * * *", TimeZone: "America/New_York"},
			after: "2026-11-01T04:45:00Z",
			want: []string{
				"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z",
				"2026-11-01T07:00:00Z",
			},
		},
		"T6: an interval loses nothing in the skipped hour, and gains nothing": {
			spec:  schedule.Spec{Cron: "*/30 * * * *", TimeZone: "America/New_York"},
			after: "2026-03-08T06:15:00Z",
			want:  []string{"2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z", "2026-03-08T08:00:00Z"},
		},
		"T7: a midnight that Santiago skips": {
			spec:  schedule.Spec{Cron: "0 0 * * *", TimeZone: "America/Santiago"},
			after: "2026-09-05T12:00:00Z",
			want:  []string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		},
		"T7: a midnight that Cairo skips": {
			spec:  schedule.Spec{Cron: "@daily", TimeZone: "Africa/Cairo"},
			after: "2026-04-23T12:00:00Z",
			want:  []string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		},
		"T7: a midnight that Beirut skips": {
			spec:  schedule.Spec{Cron: "0 0 * * *", TimeZone: "Asia/Beirut"},
			after: "2026-03-28T12:00:00Z",
			want:  []string{"2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"},
		},
		"T8: half an hour is repeated in Lord Howe": {
			spec:  schedule.Spec{Cron: "45 1 * * *", TimeZone: "Australia/Lord_Howe"},
			after: "2026-04-04T00:00:00Z",
			want:  []string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		},
		"T8: half an hour is skipped in Lord Howe": {
			spec:  schedule.Spec{Cron: "15 2 * * *", TimeZone: "Australia/Lord_Howe"},
			after: "2026-10-03T00:00:00Z",
			want:  []string{"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"},
		},
		"T8: two hours are skipped at Troll": {
			spec:  schedule.Spec{Cron: "30 1 * * *", TimeZone: "Antarctica/Troll"},
			after: "2026-03-28T12:00:00Z",
			want:  []string{"2026-03-29T01:30:00Z", "2026-03-29T23:30:00Z"},
		},
		"T8: two hours are repeated at Troll": {
			spec:  schedule.Spec{Cron: "30 1 * * *", TimeZone: "Antarctica/Troll", Overlap: schedule.OverlapBoth},
			after: "2026-10-24T12:00:00Z",
			want:  []string{"2026-10-24T23:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
		},
		"T8: a whole day is skipped in Apia, and what is shifted merges with the day after": {
			spec:  schedule.Spec{Cron: "0 9 * * *", TimeZone: "Pacific/Apia"},
			after: "2011-12-29T00:00:00Z",
			want:  []string{"2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T19:00:00Z"},
		},
		"T8: a reminder of the skipped day itself is sent a day later": {
			spec:  schedule.Spec{Cron: "0 9 30 12 *", TimeZone: "Pacific/Apia"},
			after: "2011-12-01T00:00:00Z",
			want:  []string{"2011-12-30T19:00:00Z", "2012-12-29T19:00:00Z"},
		},
		"T8: a whole day is skipped in Kwajalein": {
			spec:  schedule.Spec{Cron: "0 9 21 8 *", TimeZone: "Pacific/Kwajalein"},
			after: "1993-08-01T00:00:00Z",
			want:  []string{"1993-08-21T21:00:00Z", "1994-08-20T21:00:00Z"},
		},
		"T11: the leap day comes every four years": {
			spec:  schedule.Spec{Cron: "0 0 29 2 *"},
			after: "2026-11-30T00:00:00Z",
			want:  []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"},
		},
		"T11: the leap day does not come in 2100": {
			spec:  schedule.Spec{Cron: "0 0 29 2 *"},
			after: "2096-03-01T00:00:00Z",
			want:  []string{"2104-02-29T00:00:00Z"},
		},
		"T11: a leap day that is a Sunday": {
			spec:  schedule.Spec{Cron: "0 2 29 2 0", DayMatch: schedule.DayMatchAll},
			after: "2026-11-30T00:00:00Z",
			want:  []string{"2032-02-29T02:00:00Z", "2060-02-29T02:00:00Z"},
		},
		"T16: no zone means UTC": {
			spec:  schedule.Spec{Cron: "0 9 * * *"},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-01T09:00:00Z"},
		},
		"T17: Mexico keeps standard time since 2022": {
			spec:  schedule.Spec{Cron: "0 9 1 7 *", TimeZone: "America/Mexico_City"},
			after: "2026-01-01T00:00:00Z",
			want:  []string{"2026-07-01T15:00:00Z"},
		},
		"T17: Vancouver keeps summer time from 2026 on": {
			spec:  schedule.Spec{Cron: "0 9 * * *", TimeZone: "America/Vancouver"},
			after: "2026-12-24T00:00:00Z",
			want:  []string{"2026-12-24T16:00:00Z"},
		},
		"T18: two restricted day fields are alternatives": {
			spec:  schedule.Spec{Cron: "0 9 1 * 1"},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-01T09:00:00Z", "2026-12-07T09:00:00Z", "2026-12-14T09:00:00Z", "2026-12-21T09:00:00Z"},
		},
		"T18: a day field that starts with * is not restricted, so both must match": {
			spec:  schedule.Spec{Cron: "0 9 */2 * 1"},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-07T09:00:00Z", "2026-12-21T09:00:00Z"},
		},
		"T18: dayMatch All takes days that match both": {
			spec:  schedule.Spec{Cron: "0 18 1-7,15-21 * TUE", DayMatch: schedule.DayMatchAll},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-01T18:00:00Z", "2026-12-15T18:00:00Z", "2027-01-05T18:00:00Z"},
		},
		"T18: a time of its own in some weeks, or on Tuesdays": {
			spec:  schedule.Spec{Cron: "0 18 1-7,15-21 * TUE"},
			after: "2026-12-06T00:00:00Z",
			want:  []string{"2026-12-06T18:00:00Z", "2026-12-07T18:00:00Z", "2026-12-08T18:00:00Z", "2026-12-15T18:00:00Z"},
		},
		"T19: 7 is Sunday": {
			spec:  schedule.Spec{Cron: "0 9 * * 7"},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-06T09:00:00Z", "2026-12-13T09:00:00Z"},
		},
		"T19: L is the last day of the month": {
			spec:  schedule.Spec{Cron: "0 9 L * *"},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-31T09:00:00Z", "2027-01-31T09:00:00Z", "2027-02-28T09:00:00Z"},
		},
		"T21: an interval keeps its phase whoever asks and when": {
			spec:  schedule.Spec{Every: 36 * time.Hour, Origin: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)},
			after: "2026-11-30T10:00:00Z",
			want:  []string{"2026-12-01T22:00:00Z", "2026-12-03T10:00:00Z", "2026-12-04T22:00:00Z"},
		},
		"T21: an interval asked for in between": {
			spec:  schedule.Spec{Every: 36 * time.Hour, Origin: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)},
			after: "2026-12-01T22:00:00.5Z",
			want:  []string{"2026-12-03T10:00:00Z"},
		},
		"M2: a time that moved back past the edit waits for the week after": {
			spec:  schedule.Spec{Cron: "0 11 * * 5"},
			after: "2026-12-04T11:29:00Z",
			want:  []string{"2026-12-11T11:00:00Z"},
		},
		"M2: an edit on Thursday night counts from then": {
			spec:  schedule.Spec{Cron: "0 11 * * 5"},
			after: "2026-12-03T23:49:00Z",
			want:  []string{"2026-12-04T11:00:00Z"},
		},
		"M2: an edit in the very minute counts from then": {
			spec:  schedule.Spec{Cron: "34 16 * * *"},
			after: "2026-12-03T16:34:20Z",
			want:  []string{"2026-12-04T16:34:00Z"},
		},
		"M10: a single time long past occurs only for those who ask from before it": {
			spec:  schedule.Spec{At: "2020-01-01T00:00:00Z"},
			after: "2026-11-30T00:00:00Z",
		},
		"M10: a single time at the end of time": {
			spec:  schedule.Spec{At: "9999-12-31T23:59:59Z"},
			after: "2026-11-30T00:00:00Z",
			want:  []string{"9999-12-31T23:59:59Z"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, test.spec)
			got := dues(s, instant(t, test.after), max(1, len(test.want)))
			if !slices.Equal(got, test.want) {
				t.Errorf("after %s:\n got %v\nwant %v", test.after, got, test.want)
			}
		})
	}
}

func TestNotesSayWhatTheClocksDid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec        schedule.Spec
		after       string
		wantNominal string
		wantDue     string
		wantNote    string
	}{
		"a plain occurrence has no note": {
			spec:        schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York"},
			after:       "2026-03-07T00:00:00Z",
			wantNominal: "2026-03-07T02:30:00", wantDue: "2026-03-07T07:30:00Z",
		},
		"a missing time is shifted": {
			spec:        schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York"},
			after:       "2026-03-07T12:00:00Z",
			wantNominal: "2026-03-08T02:30:00", wantDue: "2026-03-08T07:30:00Z", wantNote: "gap: shifted by 1h",
		},
		"a missing time is moved to the first valid one": {
			spec:        schedule.Spec{Cron: "15 2 * * *", TimeZone: "Australia/Lord_Howe", Gap: schedule.GapFirstValid},
			after:       "2026-10-03T00:00:00Z",
			wantNominal: "2026-10-04T02:15:00", wantDue: "2026-10-03T15:30:00Z",
			wantNote: "gap: moved by 15m to the first valid time",
		},
		"a missing time is dropped": {
			spec:        schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York", Gap: schedule.GapSkip},
			after:       "2026-03-07T12:00:00Z",
			wantNominal: "2026-03-09T02:30:00", wantDue: "2026-03-09T06:30:00Z",
		},
		"a missing time merges with one that exists": {
			spec:        schedule.Spec{Cron: "30 2,3 * * *", TimeZone: "America/New_York"},
			after:       "2026-03-07T12:00:00Z",
			wantNominal: "2026-03-08T03:30:00", wantDue: "2026-03-08T07:30:00Z",
			wantNote: "gap: merged with the missing time 1h earlier",
		},
		"the first of two passes": {
			spec:        schedule.Spec{At: "2026-10-25T02:30:00", TimeZone: "Europe/Berlin"},
			after:       "2026-10-24T00:00:00Z",
			wantNominal: "2026-10-25T02:30:00", wantDue: "2026-10-25T00:30:00Z", wantNote: "overlap: first pass",
		},
		"the second of two passes": {
			spec:        schedule.Spec{At: "2026-10-25T02:30:00", TimeZone: "Europe/Berlin", Overlap: schedule.OverlapLast},
			after:       "2026-10-24T00:00:00Z",
			wantNominal: "2026-10-25T02:30:00", wantDue: "2026-10-25T01:30:00Z", wantNote: "overlap: second pass",
		},
		"a time with an offset is shown in the schedule's zone": {
			spec:        schedule.Spec{At: "2026-11-03T09:00:00+01:00", TimeZone: "America/New_York"},
			after:       "2026-10-24T00:00:00Z",
			wantNominal: "2026-11-03T03:00:00", wantDue: "2026-11-03T08:00:00Z",
		},
		"an interval is shown in the schedule's zone": {
			spec: schedule.Spec{
				Every: 24 * time.Hour, Origin: time.Date(2026, 10, 24, 7, 0, 0, 0, time.UTC), TimeZone: "Europe/Berlin",
			},
			after:       "2026-10-24T07:00:00Z",
			wantNominal: "2026-10-25T08:00:00", wantDue: "2026-10-25T07:00:00Z",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, ok := compile(t, test.spec).Next(instant(t, test.after))
			nominal, due, note := o.Nominal.String(), o.Due.Format(time.RFC3339), o.Note.String()
			if !ok || nominal != test.wantNominal || due != test.wantDue || note != test.wantNote {
				t.Errorf("got %s due %s, %q, %v; want %s due %s, %q",
					nominal, due, note, ok, test.wantNominal, test.wantDue, test.wantNote)
			}
		})
	}
}
