package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// shelf answers what schedules and calendars refer to: files, or a cluster. What is missing is nil; the error says how to
// add it.
type shelf interface {
	businessCalendar(ctx context.Context, namespace, name string) (*v1alpha1.BusinessCalendar, error)
	iCalendarMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
}

// calendars compiles the calendars of a shelf, each once.
type calendars struct {
	shelf shelf
	known map[key]compiledCalendar
}

type compiledCalendar struct {
	calendar *calendar.Calendar
	err      error
}

func newCalendars(s shelf) *calendars { return &calendars{s, map[key]compiledCalendar{}} }

// named is the calendar of a name; nil without a name.
func (c *calendars) named(ctx context.Context, namespace, name string) (*calendar.Calendar, error) {
	if name == "" {
		return nil, nil
	}
	k := key{"BusinessCalendar", namespace, name}
	found, known := c.known[k]
	if !known {
		found.calendar, found.err = compileCalendar(ctx, c.shelf, namespace, name)
		c.known[k] = found
	}
	return found.calendar, found.err
}

// compileCalendar reads a calendar with all that it includes. What is missing is said before anything else.
func compileCalendar(ctx context.Context, s shelf, namespace, name string) (*calendar.Calendar, error) {
	var missing error
	compiled, err := convert.Calendar(name, func(name string) (*v1alpha1.BusinessCalendar, string, bool) {
		obj, err := s.businessCalendar(ctx, namespace, name)
		if err != nil {
			missing = cmp.Or(missing, err)
			return nil, "", false
		}
		text, err := iCalendar(ctx, s, namespace, obj)
		if err != nil {
			missing = cmp.Or(missing, fmt.Errorf("calendar %s: spec.iCalendar.configMapRef: %w", name, err))
		}
		return obj, text, true
	})
	if missing != nil {
		return nil, missing
	}
	return compiled, err
}

// iCalendar is the text of a calendar's iCalendar file; empty if it names none.
func iCalendar(ctx context.Context, s shelf, namespace string, obj *v1alpha1.BusinessCalendar) (string, error) {
	if obj.Spec.ICalendar == nil {
		return "", nil
	}
	ref := obj.Spec.ICalendar.ConfigMapRef
	ref.Key = cmp.Or(ref.Key, v1alpha1.DefaultCalendarKey)
	found, err := s.iCalendarMap(ctx, namespace, ref.Name)
	if err != nil {
		return "", err
	}
	text := cmp.Or(found.Data[ref.Key], string(found.BinaryData[ref.Key]))
	if text == "" {
		return "", fmt.Errorf("ConfigMap %s has nothing under the key %s; add it, or name another", ref.Name, ref.Key)
	}
	return text, nil
}

// errUnreadable: a document exists and is in error itself.
var errUnreadable = errors.New("is in error itself")

// businessCalendar implements shelf.
func (i *inventory) businessCalendar(_ context.Context, namespace, name string) (*v1alpha1.BusinessCalendar, error) {
	o := i.byKey[key{"BusinessCalendar", namespace, name}]
	switch {
	case o == nil:
		return nil, i.missing("BusinessCalendar", namespace, name)
	case o.calendar == nil:
		return nil, fmt.Errorf("BusinessCalendar %s %w", name, errUnreadable)
	}
	return o.calendar, nil
}

// iCalendarMap implements shelf.
func (i *inventory) iCalendarMap(_ context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	o := i.byKey[key{"ConfigMap", namespace, name}]
	switch {
	case o == nil:
		return nil, i.missing("ConfigMap", namespace, name)
	case o.configMap == nil:
		return nil, fmt.Errorf("ConfigMap %s %w", name, errUnreadable)
	}
	return o.configMap, nil
}

// missing says that an object is not among the documents, and where one of the same name is.
func (i *inventory) missing(kind, namespace, name string) error {
	for k := range i.byKey {
		if k.kind == kind && k.name == name {
			return fmt.Errorf("the %s %s is in namespace %s, and objects of namespace %s do not see it", kind, name, k.namespace, namespace)
		}
	}
	return fmt.Errorf("the documents have no %s %s; add it to the file, or give its file with another -f", kind, name)
}
