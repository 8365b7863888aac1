package api_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const goodSchedule = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderSchedule
metadata: {name: renewal-notice}
spec:
  schedule: {cron: "0 9 * * *"}
  recipients:
  - {id: acct_4821, address: ada@example.com}
  channelName: billing-email
  message: {body: Hello}
`

// cron and its like replace the member of the union that the good schedule has.
func when(member string, value any) []edit {
	if member == "cron" {
		return []edit{set("spec.schedule.cron", value)}
	}
	return []edit{without("spec.schedule.cron"), set("spec.schedule."+member, value)}
}

func refuseTimes(t *testing.T, api client.Client) {
	const (
		fields = "write exactly five fields"
		macros = "the macros are @hourly"
		every  = "every is a duration of whole seconds from 10s to 8784h, such as 36h"
		rule   = "rrule is NAME=VALUE parts"
		at     = "at is a local time such as 2026-11-03T09:00:00"
		zone   = "timeZone is a name of the IANA time zone database, such as Europe/Berlin or UTC"
	)
	refuse(t, api, goodSchedule, map[string]bad{
		"no member of the union":                {[]edit{set("spec.schedule", map[string]any{})}, "spec.schedule", "set exactly one of cron, rrule, at, every and anchor"},
		"two members of the union":              {[]edit{set("spec.schedule.every", "36h")}, "spec.schedule", "set exactly one of cron, rrule, at, every and anchor"},
		"an empty cron":                         {when("cron", ""), "spec.schedule.cron", fields},
		"a blank cron":                          {when("cron", "  "), "spec.schedule.cron", fields},
		"TZ= in a cron":                         {when("cron", "TZ=UTC 0 9 * * *"), "spec.schedule.cron", "leave TZ= out and set spec.schedule.timeZone"},
		"CRON_TZ= in a cron":                    {when("cron", "CRON_TZ=UTC 0 9 * * *"), "spec.schedule.cron", "leave TZ= out and set spec.schedule.timeZone"},
		"a step of 0":                           {when("cron", "*/0 * * * *"), "spec.schedule.cron", "a step of 0 never moves on"},
		"an empty entry in a list":              {when("cron", "1,2,,3 * * * *"), "spec.schedule.cron", "a list has an empty entry"},
		"hour 24":                               {when("cron", "0 24 * * *"), "spec.schedule.cron", "hours go from 0 to 23"},
		"hour 24 at the end of a range":         {when("cron", "0 9-24 * * *"), "spec.schedule.cron", "hours go from 0 to 23"},
		"six fields":                            {when("cron", "* * * * * *"), "spec.schedule.cron", fields},
		"four fields":                           {when("cron", "* * * *"), "spec.schedule.cron", fields},
		"@every as a macro":                     {when("cron", "@every 1h"), "spec.schedule.cron", macros},
		"@reboot as a macro":                    {when("cron", "@reboot"), "spec.schedule.cron", macros},
		"a cron of two lines":                   {when("cron", "0 9 * * *\n0 10 * * *"), "spec.schedule.cron", "cron is one line of plain characters"},
		"a cron with a newline at the end":      {when("cron", "0 9 * * *\n"), "spec.schedule.cron", "cron is one line of plain characters"},
		"NUL in a cron":                         {when("cron", "0 9 * * *\x00"), "spec.schedule.cron", "cron is one line of plain characters"},
		"64 KiB of cron":                        {when("cron", strings.Repeat("1,", 32<<10)), "spec.schedule.cron", "may not be more than 256"},
		"every 1ns":                             {when("every", "1ns"), "spec.schedule.every", every},
		"a negative every":                      {when("every", "-1s"), "spec.schedule.every", every},
		"every zero":                            {when("every", "0s"), "spec.schedule.every", every},
		"every below its least":                 {when("every", "9s"), "spec.schedule.every", every},
		"every above its most":                  {when("every", "8785h"), "spec.schedule.every", every},
		"every beyond what a number holds":      {when("every", "999999999h"), "spec.schedule.every", every},
		"every with a fraction of a second":     {when("every", "10.5s"), "spec.schedule.every", every},
		"every in days":                         {when("every", "2d"), "spec.schedule.every", every},
		"every as a number":                     {when("every", 3600), "spec.schedule.every", "must be of type string"},
		"a rule by the minute":                  {when("rrule", "FREQ=MINUTELY;BYSETPOS=366;BYMONTH=2"), "spec.schedule.rrule", "FREQ is DAILY, WEEKLY, MONTHLY or YEARLY"},
		"a rule by the second":                  {when("rrule", "FREQ=SECONDLY;COUNT=100000000"), "spec.schedule.rrule", "FREQ is DAILY, WEEKLY, MONTHLY or YEARLY"},
		"a rule without FREQ":                   {when("rrule", "BYDAY=MO,TU"), "spec.schedule.rrule", "FREQ is DAILY, WEEKLY, MONTHLY or YEARLY"},
		"a part twice in a rule":                {when("rrule", "FREQ=DAILY;BYDAY=MO;BYDAY=TU"), "spec.schedule.rrule", "each part of a rule is written once"},
		"FREQ twice in a rule":                  {when("rrule", "FREQ=DAILY;FREQ=DAILY"), "spec.schedule.rrule", "each part of a rule is written once"},
		"a rule in lower case":                  {when("rrule", "freq=daily;byday=mo"), "spec.schedule.rrule", rule},
		"a rule with a semicolon at the end":    {when("rrule", "FREQ=DAILY;BYDAY=MO;"), "spec.schedule.rrule", rule},
		"a rule with its prefix":                {when("rrule", "RRULE:FREQ=DAILY"), "spec.schedule.rrule", rule},
		"a rule with DTSTART":                   {when("rrule", "FREQ=DAILY;DTSTART=20261103T090000Z"), "spec.schedule.rrule", rule},
		"a rule with COUNT and UNTIL":           {when("rrule", "FREQ=DAILY;COUNT=3;UNTIL=20261103T090000Z"), "spec.schedule.rrule", "set COUNT or UNTIL, not both"},
		"at in 9999":                            {when("at", "9999-12-31T09:00:00"), "spec.schedule.at", "the horizon of at is the years 1970 to 2100"},
		"at in 1969":                            {when("at", "1969-12-31T09:00:00"), "spec.schedule.at", "the horizon of at is the years 1970 to 2100"},
		"at on February 30":                     {when("at", "2026-02-30T09:00:00"), "spec.schedule.at", "at names a day that its month does not have"},
		"at on February 29 of a common year":    {when("at", "2027-02-29T09:00:00Z"), "spec.schedule.at", "at names a day that its month does not have"},
		"at 24:00":                              {when("at", "2026-11-03T24:00:00"), "spec.schedule.at", at},
		"at without a time":                     {when("at", "2026-11-03"), "spec.schedule.at", at},
		"at with a blank":                       {when("at", "2026-11-03 09:00:00"), "spec.schedule.at", at},
		"at with a newline at the end":          {when("at", "2026-11-03T09:00:00\n"), "spec.schedule.at", at},
		"at with an offset of a day":            {when("at", "2026-11-03T09:00:00+24:00"), "spec.schedule.at", at},
		"an anchor without a time":              {when("anchor", map[string]any{"attribute": "renewalDate"}), "spec.schedule.anchor.time", "Required value"},
		"an anchor at a quarter past 24":        {when("anchor", map[string]any{"attribute": "renewalDate", "time": "24:15"}), "spec.schedule.anchor.time", "should match"},
		"an anchor offset by nothing":           {when("anchor", map[string]any{"attribute": "renewalDate", "time": "09:00", "offset": "-P"}), "spec.schedule.anchor.offset", "offset is a period of days"},
		"an anchor offset by hours":             {when("anchor", map[string]any{"attribute": "renewalDate", "time": "09:00", "offset": "-PT3H"}), "spec.schedule.anchor.offset", "offset is a period of days"},
		"the zone Local":                        {[]edit{set("spec.schedule.timeZone", "Local")}, "spec.schedule.timeZone", zone},
		"an empty zone":                         {[]edit{set("spec.schedule.timeZone", "")}, "spec.schedule.timeZone", zone},
		"an offset as a zone":                   {[]edit{set("spec.schedule.timeZone", "UTC+02:00")}, "spec.schedule.timeZone", zone},
		"an offset of hours as a zone":          {[]edit{set("spec.schedule.timeZone", "GMT+2")}, "spec.schedule.timeZone", zone},
		"a zone with a newline at the end":      {[]edit{set("spec.schedule.timeZone", "Europe/Berlin\n")}, "spec.schedule.timeZone", zone},
		"a zone with a blank in front":          {[]edit{set("spec.schedule.timeZone", " Europe/Berlin")}, "spec.schedule.timeZone", zone},
		"NUL in a zone":                         {[]edit{set("spec.schedule.timeZone", "Europe/Berlin\x00")}, "spec.schedule.timeZone", zone},
		"a path as a zone":                      {[]edit{set("spec.schedule.timeZone", "../../etc/passwd")}, "spec.schedule.timeZone", zone},
		"a recipient's zone with every":         {append(when("every", "36h"), set("spec.schedule.timeZoneFrom", "Recipient")), "spec.schedule.timeZoneFrom", "timeZoneFrom Recipient does not go with every"},
		"endTime before startTime":              {[]edit{set("spec.schedule.startTime", "2027-01-01T00:00:00Z"), set("spec.schedule.endTime", "2026-01-01T00:00:00Z")}, "spec.schedule.endTime", "endTime must be later than startTime"},
		"endTime at startTime":                  {[]edit{set("spec.schedule.startTime", "2026-01-01T00:00:00Z"), set("spec.schedule.endTime", "2026-01-01T01:00:00+01:00")}, "spec.schedule.endTime", "endTime must be later than startTime"},
		"startTime without a zone":              {[]edit{set("spec.schedule.startTime", "2026-01-01T00:00:00")}, "spec.schedule.startTime", "date-time"},
		"dayMatch without cron":                 {append(when("every", "36h"), set("spec.schedule.dayMatch", "All")), "spec.schedule.dayMatch", "dayMatch goes with cron only"},
		"onNonBusinessDay without a calendar":   {[]edit{set("spec.schedule.onNonBusinessDay", "Next")}, "spec.schedule.onNonBusinessDay", "onNonBusinessDay needs a calendarName"},
		"a calendar in another namespace":       {[]edit{set("spec.schedule.calendarName", "other/de-banking")}, "spec.schedule.calendarName", "should match"},
		"a policy for gaps that does not exist": {[]edit{set("spec.schedule.dst.gap", "Later")}, "spec.schedule.dst.gap", `supported values: "Shift", "FirstValid", "Skip"`},
		"jitter above the deadline":             {[]edit{set("spec.schedule.jitter", "2h"), set("spec.delivery.deadline", "1h")}, "spec.schedule.jitter", "jitter must not be longer than delivery.deadline"},
		"jitter above the default deadline":     {[]edit{set("spec.schedule.jitter", "5h")}, "spec.schedule.jitter", "jitter must not be longer than delivery.deadline, which is 4h when it is not set"},
		"a negative jitter":                     {[]edit{set("spec.schedule.jitter", "-1s")}, "spec.schedule.jitter", "jitter is a duration from 0s to 24h, such as 2m"},
	})
}
