package convert_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestTheIdentitySaysWhichOccurrencesCount(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2026, 10, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spec     schedule.Spec
		identity v1alpha1.Identity
		want     int
	}{
		"all of them by their due times":         {schedule.Spec{Cron: "0 9-12 * * *"}, v1alpha1.IdentityDueTime, 20},
		"all of them without an identity":        {schedule.Spec{Cron: "0 9-12 * * *"}, "", 20},
		"the first of each date":                 {schedule.Spec{Cron: "0 9-12 * * *"}, v1alpha1.IdentityBusinessDate, 5},
		"the first of each date of every minute": {schedule.Spec{Cron: "* * * * *"}, v1alpha1.IdentityBusinessDate, 5},
		"the first pass of a repeated hour":      {schedule.Spec{Cron: "30 1 1 11 *", TimeZone: "America/New_York", Overlap: schedule.OverlapBoth}, v1alpha1.IdentityBusinessDate, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := schedule.Compile(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			obj := &v1alpha1.ReminderSchedule{}
			obj.Spec.Identity = c.identity
			s := convert.OccurrencesOf(obj, convert.Series{Schedule: compiled})
			var want, there, back []schedule.Occurrence
			for o := range compiled.Between(from.Add(-time.Second), to.Add(-time.Second)) {
				if s.Counts(o) {
					want = append(want, o)
				}
			}
			before := to.Add(-time.Second)
			for o, ok := s.Next(from.Add(-time.Second)); ok && !o.Due.After(before); o, ok = s.Next(o.Due) {
				there = append(there, o)
			}
			for o, ok := s.Previous(before); ok && !o.Due.Before(from); o, ok = s.Previous(o.Due.Add(-time.Second)) {
				back = append(back, o)
			}
			slices.Reverse(back)
			if len(want) != c.want || !slices.Equal(there, want) || !slices.Equal(back, want) {
				t.Errorf("%d count, Next finds %d, Previous %d; want %d", len(want), len(there), len(back), c.want)
			}
			if got := slices.Collect(s.Between(from.Add(-time.Second), before)); !slices.Equal(got, want) {
				t.Errorf("Between has %d, want %d", len(got), c.want)
			}
			if n := s.Count(from.Add(-time.Second), before); n != int64(c.want) {
				t.Errorf("Count is %d, want %d", n, c.want)
			}
		})
	}
}
