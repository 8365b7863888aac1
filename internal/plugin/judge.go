package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/convert"
	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

const schedulePath = "spec.schedule"

// compile makes a schedule of an object. What the schema says of the same fields gives way to what the compiler says: it
// knows the place and the remedy. Without a schedule the object has an error.
func (o *object) compile(ctx context.Context, c *calendars) *schedule.Schedule {
	if o.schedule == nil {
		return nil
	}
	days, err := c.named(ctx, o.namespace, o.schedule.Spec.Schedule.CalendarName)
	if err != nil {
		o.fail(schedulePath+".calendarName", "%v", err)
		return nil
	}
	compiled, err := convert.Schedule(o.schedule, days)
	if err == nil {
		return compiled
	}
	p := scheduleProblem(err)
	o.problems = slices.DeleteFunc(o.problems, func(other problem) bool { return other.Path == p.Path })
	o.problems = append(o.problems, p)
	return nil
}

// severities in the order in which problems are listed.
var severities = []string{severityError, severityWarning, severityInfo}

// lint adds what is wrong with an object, beside what its schema says, and puts errors first.
func (o *object) lint(ctx context.Context, i *inventory, c *calendars) {
	switch {
	case o.schedule != nil:
		o.lintSchedule(ctx, i, c)
	case o.calendar != nil:
		o.lintCalendar(ctx, c)
	case o.channel != nil:
		o.unsupported(convert.UnsupportedChannel(o.channel))
	}
	slices.SortStableFunc(o.problems, func(a, b problem) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
}

func (o *object) lintSchedule(ctx context.Context, i *inventory, c *calendars) {
	obj := o.schedule
	if compiled := o.compile(ctx, c); compiled != nil {
		for _, w := range scheduleWarnings(obj, compiled) {
			o.warn(schedulePath, w)
		}
		_, excluded := convert.SeriesOf(obj, compiled, convert.Recipients(obj))
		for _, w := range excludedWarnings(excluded) {
			o.warn("spec.recipients", w)
		}
	}
	for _, err := range []error{convert.Messages(obj), convert.Eligibility(obj)} {
		if err == nil {
			continue
		}
		path, text, ok := strings.Cut(err.Error(), ": ")
		if !ok || !strings.HasPrefix(path, "spec.") {
			path, text = "spec", err.Error()
		}
		o.fail(path, "%s", text)
	}
	o.unsupported(convert.UnsupportedSchedule(obj))
	if name := obj.Spec.ChannelName; name != "" && i.byKey[key{"ReminderChannel", o.namespace, name}] == nil {
		o.problems = append(o.problems, problem{
			Severity: severityInfo, Path: "spec.channelName", Message: fmt.Sprintf("the documents have no ReminderChannel %s, so that it was not checked", name),
		})
	}
}

// lintCalendar compiles a calendar as if a schedule named it.
func (o *object) lintCalendar(ctx context.Context, c *calendars) {
	if o.name == "" {
		return
	}
	_, err := c.named(ctx, o.namespace, o.name)
	if err == nil {
		return
	}
	text := strings.TrimPrefix(err.Error(), "calendar "+o.name+": ")
	path, message, _ := strings.Cut(text, ": ")
	switch {
	case strings.HasPrefix(text, "calendar "): // the fault is in one that is included
		path, message = "spec.include", text
	case !strings.HasPrefix(path, "spec") || strings.Contains(path, " "):
		path, message = "spec", text
	}
	o.problems = slices.DeleteFunc(o.problems, func(other problem) bool { return other.Path == path })
	o.fail(path, "%s", message)
}

func (o *object) warn(path, message string) {
	o.problems = append(o.problems, problem{Severity: severityWarning, Path: path, Message: message})
}

// unsupported fields are errors: the operator would not act on the object.
func (o *object) unsupported(paths []string) {
	for _, path := range paths {
		path, value, _ := strings.Cut(path, ": ")
		if value != "" {
			value = " " + value
		}
		o.fail(path, "this version does not act on it%s: the object would be Stalled with the reason NotSupportedYet", value)
	}
}

// failed tells whether an object has an error.
func (o *object) failed() bool {
	return slices.ContainsFunc(o.problems, func(p problem) bool { return p.Severity == severityError })
}
