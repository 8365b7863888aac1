package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

// LateAfter is when an acceptance counts as late, while spec.slo is not acted on.
const LateAfter = v1alpha1.DefaultSLOWithin

var specPath = field.NewPath("spec")

// Schedule compiles the time fields of a schedule. Days is the compiled calendar that spec.schedule.calendarName names;
// nil without one. Its error is a field error with the path below spec.schedule.
func Schedule(obj *v1alpha1.ReminderSchedule, days *calendar.Calendar) (*schedule.Schedule, error) {
	s := obj.Spec.Schedule
	spec := schedule.Spec{
		Cron: s.Cron, RRule: s.RRule, At: s.At, Anchor: anchor(s.Anchor), TimeZone: s.TimeZone, DayMatch: schedule.DayMatch(s.DayMatch),
		Origin: obj.CreationTimestamp.Time, Start: timeOf(s.StartTime), End: timeOf(s.EndTime),
		Calendar: days, OnNonBusinessDay: calendar.Policy(s.OnNonBusinessDay),
	}
	if s.Every != nil {
		spec.Every = s.Every.Duration
	}
	if s.StartTime != nil {
		spec.Origin = s.StartTime.Time
	}
	if s.DST != nil {
		spec.Gap, spec.Overlap = schedule.GapPolicy(s.DST.Gap), schedule.OverlapPolicy(s.DST.Overlap)
	}
	compiled, err := schedule.Compile(spec)
	if fault, ok := errors.AsType[*schedule.FieldError](err); ok {
		path := specPath.Child("schedule")
		for part := range strings.SplitSeq(fault.Field, ".") {
			if part != "" {
				path = path.Child(part)
			}
		}
		return nil, &invalid{field.Invalid(path, fault.Value, strings.TrimPrefix(fault.Error(), fault.Field+": ")), fault}
	}
	return compiled, err
}

func anchor(a *v1alpha1.AnchorSpec) *schedule.Anchor {
	if a == nil {
		return nil
	}
	return &schedule.Anchor{Attribute: a.Attribute, Offset: a.Offset, Time: a.Time}
}

// ErrNeverOccurs: the schedule names no time that exists, such as February 30.
var ErrNeverOccurs = errors.New("can never occur")

// invalid is a field error that also answers errors.Is for ErrNeverOccurs.
type invalid struct {
	shown *field.Error
	cause *schedule.FieldError
}

func (e *invalid) Error() string { return e.shown.Error() }

// Unwrap gives the path by the *field.Error, and the place in the value by the *schedule.FieldError.
func (e *invalid) Unwrap() []error { return []error{e.shown, e.cause} }

func (e *invalid) Is(target error) bool {
	return target == ErrNeverOccurs && e.cause.NeverOccurs
}

// Messages compiles the templates once, so that a mistake is found before
// anything falls due. Its error carries the field's path.
func Messages(obj *v1alpha1.ReminderSchedule) error {
	_, err := message.CompileParts(MessageSource(obj))
	return err
}

// MessageSource is what the author of a schedule wrote.
func MessageSource(obj *v1alpha1.ReminderSchedule) message.Source {
	m := obj.Spec.Message
	return message.Source{Subject: m.Subject, Body: m.Body, HTML: m.HTML, UnsubscribeURL: m.UnsubscribeURL}
}

// Recipients are the addressees of a schedule, in the order of their ids.
func Recipients(obj *v1alpha1.ReminderSchedule) []reminder.Recipient {
	all := make([]reminder.Recipient, 0, len(obj.Spec.Recipients))
	for _, r := range obj.Spec.Recipients {
		all = append(all, reminder.Recipient{
			SchemaVersion: reminder.RegistryVersion, ID: r.ID, Address: r.Address, TimeZone: r.TimeZone,
			Attributes: r.Attributes, Active: r.Active == nil || *r.Active,
		})
	}
	slices.SortFunc(all, func(a, b reminder.Recipient) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Entry is what workers need to know of a schedule, without what only the
// registry knows: epoch, edit and resume times.
func Entry(obj *v1alpha1.ReminderSchedule, audience []reminder.Recipient) reminder.Schedule {
	rule, url := eligibilityOf(obj.Spec.Delivery)
	return reminder.Schedule{
		SchemaVersion: reminder.RegistryVersion, Namespace: obj.Namespace, Name: obj.Name,
		UID: string(obj.UID), CreateTime: obj.CreationTimestamp.UTC(), Generation: obj.Generation,
		PlanHash: planHash(obj), AudienceHash: hash(audience), Suspended: obj.Spec.Suspend,
		Channel: obj.Spec.ChannelName, Subject: obj.Spec.Message.Subject, Body: obj.Spec.Message.Body,
		HTML: obj.Spec.Message.HTML, UnsubscribeURL: obj.Spec.Message.UnsubscribeURL,
		Retry: retry(obj.Spec.Delivery), OnUnknown: onUnknown(obj.Spec.Delivery),
		Eligibility: rule, EligibilityURL: url,
	}
}

// planHash covers the fields that decide which reminders exist and when. What is
// left out and what is written out as its default are the same; so a new field with
// a default must be dropped in whenOf, or an upgrade would look like an edit of the
// time fields of every schedule.
func planHash(obj *v1alpha1.ReminderSchedule) string {
	identity := obj.Spec.Identity
	dropDefault(&identity, v1alpha1.IdentityDueTime)
	return hash(struct {
		Schedule v1alpha1.ScheduleSpec
		Channel  string
		Identity v1alpha1.Identity
	}{whenOf(obj.Spec.Schedule), obj.Spec.ChannelName, identity})
}

// whenOf is the time fields without what equals its default.
func whenOf(s v1alpha1.ScheduleSpec) v1alpha1.ScheduleSpec {
	dropDefault(&s.TimeZone, "UTC")
	dropDefault(&s.TimeZoneFrom, v1alpha1.TimeZoneFromSchedule)
	dropDefault(&s.DayMatch, v1alpha1.DayMatchAny)
	if s.DST != nil {
		dst := *s.DST
		dropDefault(&dst.Gap, v1alpha1.GapShift)
		dropDefault(&dst.Overlap, v1alpha1.OverlapFirst)
		s.DST = &dst
	}
	if s.DST != nil && *s.DST == (v1alpha1.DSTPolicy{}) {
		s.DST = nil
	}
	if s.Jitter != nil && s.Jitter.Duration == 0 {
		s.Jitter = nil
	}
	return s
}

func dropDefault[S ~string](field *S, standard S) {
	if *field == standard {
		*field = ""
	}
}

func hash(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // plain values always encode
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Deadline is how long after its due time a reminder may be submitted, where no
// time of day says it; see [DeadlinesOf].
func Deadline(obj *v1alpha1.ReminderSchedule) time.Duration {
	if d := obj.Spec.Delivery; d != nil {
		return durationOf(d.Deadline, v1alpha1.DefaultDeadline)
	}
	return v1alpha1.DefaultDeadline
}

// CatchUpRule says which missed occurrences are taken up.
type CatchUpRule struct {
	// Window is how far back one may lie.
	Window time.Duration
	// Limit is how many are taken up at most, the newest; 0 for none.
	Limit int
}

// CatchUp is the rule of spec.catchUp.
func CatchUp(obj *v1alpha1.ReminderSchedule) CatchUpRule {
	c := obj.Spec.CatchUp
	if c == nil {
		return CatchUpRule{Window: v1alpha1.DefaultCatchUpWindow, Limit: 1}
	}
	rule := CatchUpRule{Window: durationOf(c.Window, v1alpha1.DefaultCatchUpWindow), Limit: 1}
	switch c.Policy {
	case v1alpha1.CatchUpNone:
		rule.Limit = 0
	case v1alpha1.CatchUpAll:
		rule.Limit = v1alpha1.DefaultCatchUpLimit
		if c.Limit != nil {
			rule.Limit = int(*c.Limit)
		}
	}
	return rule
}

// Jitter is over how long the reminders of one occurrence are spread.
func Jitter(obj *v1alpha1.ReminderSchedule) time.Duration {
	return durationOf(obj.Spec.Schedule.Jitter, 0)
}

// TTLAfterFinished is after how long a schedule that has ended is deleted; false for
// never.
func TTLAfterFinished(obj *v1alpha1.ReminderSchedule) (time.Duration, bool) {
	ttl := obj.Spec.TTLAfterFinished
	return durationOf(ttl, 0), ttl != nil
}

func onUnknown(d *v1alpha1.DeliverySpec) reminder.OnUnknown {
	if d == nil || d.OnUnknown == "" {
		return reminder.ParkUnknown
	}
	return reminder.OnUnknown(d.OnUnknown)
}

func retry(d *v1alpha1.DeliverySpec) reminder.Retry {
	r := reminder.Retry{Attempts: v1alpha1.DefaultAttempts, InitialDelay: v1alpha1.DefaultInitialDelay, Factor: v1alpha1.DefaultFactor, MaxDelay: v1alpha1.DefaultMaxDelay}
	if d == nil || d.Retry == nil {
		return r
	}
	if d.Retry.Attempts != nil {
		r.Attempts = int(*d.Retry.Attempts)
	}
	for _, delay := range d.Retry.Delays {
		r.Delays = append(r.Delays, delay.Duration)
	}
	r.InitialDelay = durationOf(d.Retry.InitialDelay, r.InitialDelay)
	r.MaxDelay = durationOf(d.Retry.MaxDelay, max(r.MaxDelay, r.InitialDelay))
	r.Factor = factorOf(d.Retry.Factor, r.Factor)
	return r
}

// factorOf reads what the schema has checked: an integer, or a decimal as text.
func factorOf(v *intstr.IntOrString, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	var f float64
	if err := json.Unmarshal([]byte(v.String()), &f); err != nil || f < 1 {
		return otherwise
	}
	return f
}

func durationOf(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
