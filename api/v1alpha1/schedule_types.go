package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DayMatch decides on a day when a cron expression restricts both day fields.
// +kubebuilder:validation:Enum=Any;All
type DayMatch string

// Values of DayMatch.
const (
	DayMatchAny DayMatch = "Any"
	DayMatchAll DayMatch = "All"
)

// TimeZoneSource says whose time zone counts.
// +kubebuilder:validation:Enum=Schedule;Recipient
type TimeZoneSource string

// Values of TimeZoneSource.
const (
	TimeZoneFromSchedule  TimeZoneSource = "Schedule"
	TimeZoneFromRecipient TimeZoneSource = "Recipient"
)

// GapPolicy says what becomes of a local time that the clocks skip.
// +kubebuilder:validation:Enum=Shift;FirstValid;Skip
type GapPolicy string

// Values of GapPolicy.
const (
	GapShift      GapPolicy = "Shift"
	GapFirstValid GapPolicy = "FirstValid"
	GapSkip       GapPolicy = "Skip"
)

// OverlapPolicy says which instant a local time means that the clocks show twice.
// +kubebuilder:validation:Enum=First;Last;Both
type OverlapPolicy string

// Values of OverlapPolicy.
const (
	OverlapFirst OverlapPolicy = "First"
	OverlapLast  OverlapPolicy = "Last"
	OverlapBoth  OverlapPolicy = "Both"
)

// BusinessDayPolicy says where an occurrence goes that falls on a day that is no business day.
// +kubebuilder:validation:Enum=Next;Previous;Skip;Keep
type BusinessDayPolicy string

// Values of BusinessDayPolicy.
const (
	BusinessDayNext     BusinessDayPolicy = "Next"
	BusinessDayPrevious BusinessDayPolicy = "Previous"
	BusinessDaySkip     BusinessDayPolicy = "Skip"
	BusinessDayKeep     BusinessDayPolicy = "Keep"
)

// ScheduleSpec says when a reminder falls due. Exactly one of cron, rrule, at, every and anchor is set.
// +kubebuilder:validation:XValidation:rule="[has(self.cron), has(self.rrule), has(self.at), has(self.every), has(self.anchor)].filter(x, x).size() == 1",message="set exactly one of cron, rrule, at, every and anchor"
// +kubebuilder:validation:XValidation:rule="!has(self.startTime) || !has(self.endTime) || self.startTime < self.endTime",message="endTime must be later than startTime",fieldPath=".endTime"
// +kubebuilder:validation:XValidation:rule="!has(self.dayMatch) || has(self.cron)",message="dayMatch goes with cron only",fieldPath=".dayMatch"
// +kubebuilder:validation:XValidation:rule="!has(self.onNonBusinessDay) || has(self.calendarName)",message="onNonBusinessDay needs a calendarName",fieldPath=".onNonBusinessDay"
// +kubebuilder:validation:XValidation:rule="!has(self.every) || !has(self.timeZoneFrom) || self.timeZoneFrom != 'Recipient'",message="timeZoneFrom Recipient does not go with every, which counts elapsed time and not the clocks of a zone",fieldPath=".timeZoneFrom"
type ScheduleSpec struct {
	// cron is five fields, minute hour day-of-month month day-of-week, such as "0 9 * * MON-FRI", or one of the macros
	// @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually. 1 to 256 characters. Lists, ranges, steps and
	// names are understood, 7 is Sunday, L and LW stand for the last day and the last weekday of the month, MON#2 for the
	// second Monday, FRIL for the last Friday. There are no seconds and no years, and no TZ= prefix: set timeZone.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[\x20-\x7e]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[[:print:]]+$')",message="cron is one line of plain characters, such as \"0 9 * * MON-FRI\""
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^ *(CRON_)?TZ=')",message="an expression has no time zone: leave TZ= out and set spec.schedule.timeZone"
	// +kubebuilder:validation:XValidation:rule="self.matches('(?i)^ *(@|(CRON_)?TZ=)') || self.matches('^ *([^ ]+ +){4}[^ ]+ *$')",message="write exactly five fields, minute hour day-of-month month day-of-week, such as \"0 9 * * MON-FRI\": there are no seconds and no years"
	// +kubebuilder:validation:XValidation:rule="!self.matches('/0+([ ,]|$)')",message="a step of 0 never moves on: write 1 or more, or leave the step out"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|[ ,]),|,( |$)')",message="a list has an empty entry: write one comma between two values"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^ *[^ @]+ +([0-9*/,-]*[,-])?(2[4-9]|[3-9][0-9]|[0-9]{3,})([,/ -]|$)')",message="hours go from 0 to 23: midnight is 0"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^ *@') || self.matches('(?i)^ *@(hourly|daily|midnight|weekly|monthly|yearly|annually) *$')",message="the macros are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually; for a fixed distance set every, such as every: 36h"
	// +optional
	Cron string `json:"cron,omitempty"`

	// rrule is a recurrence rule of RFC 5545 without its prefix, such as FREQ=MONTHLY;BYDAY=-1FR. 10 to 512 characters, in
	// upper case. FREQ is DAILY, WEEKLY, MONTHLY or YEARLY; the start is startTime, so there is no DTSTART, and where
	// BYHOUR and BYMINUTE are missing the time of day is that of startTime in the zone, or midnight without one.
	// +kubebuilder:validation:MinLength=10
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Z]+=[A-Z0-9,+-]+(;[A-Z]+=[A-Z0-9,+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z]+=[A-Z0-9,+-]+(;[A-Z]+=[A-Z0-9,+-]+)*$') && !self.matches('DTSTART|TZID|RDATE|EXDATE|EXRULE')",message="rrule is NAME=VALUE parts of a recurrence rule in upper case with one semicolon between them and none at the end, such as FREQ=MONTHLY;BYDAY=-1FR: no RRULE: and no DTSTART, which is spec.schedule.startTime"
	// +kubebuilder:validation:XValidation:rule="self.matches('(^|;)FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;|$)')",message="FREQ is DAILY, WEEKLY, MONTHLY or YEARLY; for anything shorter set cron or every"
	// +kubebuilder:validation:XValidation:rule="['FREQ=', 'INTERVAL=', 'COUNT=', 'UNTIL=', 'BYMONTH=', 'BYWEEKNO=', 'BYYEARDAY=', 'BYMONTHDAY=', 'BYDAY=', 'BYHOUR=', 'BYMINUTE=', 'BYSECOND=', 'BYSETPOS=', 'WKST='].all(part, (';' + self).split(';' + part).size() <= 2)",message="each part of a rule is written once: join the values with commas, such as BYDAY=MO,WE"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|;)COUNT=.*;UNTIL=|(^|;)UNTIL=.*;COUNT=')",message="set COUNT or UNTIL, not both"
	// +optional
	RRule string `json:"rrule,omitempty"`

	// at is a single time: a local one, read in timeZone, such as 2026-11-03T09:00:00, or one with an offset, such as
	// 2026-11-03T09:00:00+01:00 or 2026-11-03T08:00:00Z. Whole seconds, years 1970 to 2100. A time in the past is
	// accepted; what becomes of it says catchUp.
	// +kubebuilder:validation:MinLength=19
	// +kubebuilder:validation:MaxLength=25
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?$')",message="at is a local time such as 2026-11-03T09:00:00, or one with an offset such as 2026-11-03T09:00:00+01:00"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T') || !format.date().validate(self.substring(0, 10)).hasValue()",message="at names a day that its month does not have"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{4}-') || (int(self.substring(0, 4)) >= 1970 && int(self.substring(0, 4)) <= 2100)",message="the horizon of at is the years 1970 to 2100"
	// +optional
	At string `json:"at,omitempty"`

	// every is the length of real time between occurrences, in whole seconds, such as 36h. 10s to 8784h (366 days). The
	// first occurrence is at startTime, or without one a whole interval after the creation of the object; a restart moves
	// nothing. Not with a calendarName: elapsed time is not moved by a calendar.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}s){1,3}$') && duration(self) >= duration('10s') && duration(self) <= duration('8784h')",message="every is a duration of whole seconds from 10s to 8784h, such as 36h"
	// +optional
	Every *metav1.Duration `json:"every,omitempty"`

	// anchor takes the day from a date that each recipient brings along, such as three days before a renewal date.
	// +optional
	Anchor *AnchorSpec `json:"anchor,omitempty"`

	// timeZone is a name of the IANA time zone database, such as Europe/Berlin. 1 to 64 characters. Default: unset, which
	// means UTC. With timeZoneFrom Recipient it is the zone of recipients that have none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && !self.matches('^(UTC|GMT|UT)[+-]0*[1-9]') && !(self in ['Local', 'localtime', 'Factory', 'posixrules'])",message="timeZone is a name of the IANA time zone database, such as Europe/Berlin or UTC: no offset, no blanks, not Local"
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// timeZoneFrom says whose zone counts: Schedule, the field timeZone; Recipient, the field timeZone of each recipient,
	// so that each is reminded by its own clock. Not with every. A recipient whose zone does not exist has no occurrence;
	// the others are not affected. Default Schedule.
	// +kubebuilder:default=Schedule
	// +optional
	TimeZoneFrom TimeZoneSource `json:"timeZoneFrom,omitempty"`

	// dayMatch says what it takes when cron restricts both the day of the month and the day of the week: Any, one of them
	// matches, as crontab(5) has it; All, both match. Default Any. With cron only.
	// +optional
	DayMatch DayMatch `json:"dayMatch,omitempty"`

	// dst says what becomes of local times that do not exist or exist twice, because the clocks are changed. Default
	// {gap: Shift, overlap: First}.
	// +optional
	DST *DSTPolicy `json:"dst,omitempty"`

	// calendarName is the BusinessCalendar in the same namespace that knows the business days, such as de-banking. 1 to
	// 253 characters. While it cannot be used nothing new is planned. Default: unset, every day is a business day.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	CalendarName string `json:"calendarName,omitempty"`

	// onNonBusinessDay says where an occurrence goes that falls on a day that is no business day, or at or after the
	// early close of one: Next or Previous business day at the same local time, Skip, or Keep it. Default Next. It needs
	// a calendarName.
	// +optional
	OnNonBusinessDay BusinessDayPolicy `json:"onNonBusinessDay,omitempty"`

	// jitter spreads the reminders of one occurrence evenly over a length of time after it, such as 2m, in whole seconds,
	// by a stable hash of schedule, recipient and occurrence. None is put off to its deadline. 0s to 24h, and not more
	// than delivery.deadline. Default 0s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="jitter is a duration from 0s to 24h, such as 2m"
	// +optional
	Jitter *metav1.Duration `json:"jitter,omitempty"`

	// startTime is the first instant at which an occurrence may fall due, in RFC 3339, such as 2026-11-01T00:00:00Z.
	// Default: unset, no bound. It anchors every, and COUNT and INTERVAL of rrule.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// endTime is the instant from which on no occurrence falls due, in RFC 3339, such as 2027-11-01T00:00:00Z; later than
	// startTime. Default: unset, no bound.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
}

// AnchorSpec takes the day of the occurrence from an attribute of the recipient.
type AnchorSpec struct {
	// attribute is the recipient's attribute that holds the date, such as renewalDate. Its value is a date such as
	// 2026-11-03, without a time; a recipient whose value is missing or is no date has no occurrence, and the message of
	// the condition Ready counts such recipients while the reason is Planned or Finished. 1 to 63 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_.-]*$`
	// +required
	Attribute string `json:"attribute,omitempty"`

	// offset is added to the date: an ISO 8601 period of years, months, weeks and days, with a sign in front, such as
	// -P3D for three days before, P0D for the day itself, P2W for two weeks after; or of business days alone, such as
	// -P3BD, which needs a calendarName. 3 to 20 characters. Default P0D.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[+-]?P([0-9]{1,2}Y)?([0-9]{1,3}M)?([0-9]{1,3}W)?([0-9]{1,4}B?D)?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[+-]?P([0-9]{1,2}Y)?([0-9]{1,3}M)?([0-9]{1,3}W)?([0-9]{1,4}B?D)?$') && !self.endsWith('P')",message="offset is a period of days, weeks, months or years with the sign in front, such as -P3D, P0D or P2W"
	// +kubebuilder:default=P0D
	// +optional
	Offset string `json:"offset,omitempty"`

	// time is the local time of day, hours and minutes, from 00:00 to 23:59, such as "09:00".
	// +kubebuilder:validation:MinLength=5
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	// +required
	Time string `json:"time,omitempty"`
}

// DSTPolicy says what becomes of local times around a change of the clocks.
type DSTPolicy struct {
	// gap is for a local time that the clocks skip: Shift, read it with the offset from before the gap, so that 02:30
	// becomes 03:30; FirstValid, take the first instant after the gap, 03:00; Skip, drop it. Default Shift.
	// +kubebuilder:default=Shift
	// +optional
	Gap GapPolicy `json:"gap,omitempty"`

	// overlap is for a local time that the clocks show twice: First, Last, or Both as two occurrences. Default First.
	// +kubebuilder:default=First
	// +optional
	Overlap OverlapPolicy `json:"overlap,omitempty"`
}
