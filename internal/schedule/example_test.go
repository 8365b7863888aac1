package schedule_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func ExampleCompile() {
	s, err := schedule.Compile(schedule.Spec{Cron: "30 2 * * *", TimeZone: "America/New_York"})
	if err != nil {
		fmt.Println(err)
		return
	}
	after := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	for o := range s.Between(after, after.AddDate(0, 0, 3)) {
		fmt.Printf("%s is due at %s [%s]\n", o.Nominal, o.Due.Format(time.RFC3339), o.Note)
	}
	// Output:
	// 2026-03-07T02:30:00 is due at 2026-03-07T07:30:00Z []
	// 2026-03-08T02:30:00 is due at 2026-03-08T07:30:00Z [gap: shifted by 1h]
	// 2026-03-09T02:30:00 is due at 2026-03-09T06:30:00Z []
}

func ExampleCompile_refused() {
	_, err := schedule.Compile(schedule.Spec{Cron: "0 24 * * *"})
	fmt.Println(err)
	// Output:
	// cron: character 3: 24 is not a valid hour; write 0 for midnight
}

func ExampleFieldError_Caret() {
	_, err := schedule.Compile(schedule.Spec{Cron: "0 9 * * FRI-MON"})
	if refused, ok := errors.AsType[*schedule.FieldError](err); ok {
		fmt.Println(refused.Caret())
		fmt.Println(refused.Hint)
	}
	// Output:
	// 0 9 * * FRI-MON
	//         ^
	// write FRI-SAT,SUN-MON
}

func ExampleSchedule_Previous() {
	s, err := schedule.Compile(schedule.Spec{Cron: "0 9 LW * *", TimeZone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	missed, ok := s.Previous(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC))
	fmt.Println(missed.Due.In(s.Location()).Format(time.RFC1123Z), ok)
	// Output:
	// Mon, 30 Nov 2026 09:00:00 +0100 true
}

func ExampleResolveZone() {
	for _, name := range []string{"Asia/Calcutta", "utc", "europe/berlin", "UTC+02:00"} {
		_, canonical, err := schedule.ResolveZone(name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(canonical)
	}
	// Output:
	// Asia/Kolkata
	// UTC
	// timeZone: there is no zone "europe/berlin" in the tz database 2026c; did you mean Europe/Berlin?
	// timeZone: "UTC+02:00" is an offset, not a zone: it does not know when clocks change; did you mean Etc/GMT-2?
}
