package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// shelf is an API server in memory with calendars on it. It counts reads, and fails them on demand.
type shelf struct {
	Options
	t       *testing.T
	api     client.WithWatch
	reads   map[string]int // by kind; those past the cache by "live"
	failure error
	today   time.Time
}

func newShelf(t *testing.T, objects ...client.Object) *shelf {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &shelf{t: t, reads: map[string]int{}, today: clock("12:00:00")}
	s.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.BusinessCalendar{}).
		WithIndex(&v1alpha1.ReminderSchedule{}, byCalendar, calendarName).Build()
	counting := func(kind string) client.WithWatch {
		return interceptor.NewClient(s.api, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if s.reads[kind]++; s.failure != nil {
					return s.failure
				}
				return c.Get(ctx, key, obj, opts...)
			},
		})
	}
	s.Options = Options{Client: counting("cached"), Reader: counting("live"), calendars: &calendarCache{}, Now: func() time.Time { return s.today }}
	return s
}

func (s *shelf) put(obj client.Object) {
	s.t.Helper()
	was := obj.DeepCopyObject().(client.Object)
	err := s.api.Get(s.t.Context(), client.ObjectKeyFromObject(obj), was)
	if apierrors.IsNotFound(err) {
		err = s.api.Create(s.t.Context(), obj)
	} else if err == nil {
		obj.SetResourceVersion(was.GetResourceVersion())
		err = s.api.Update(s.t.Context(), obj)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func aCalendar(name string, spec v1alpha1.BusinessCalendarSpec) *v1alpha1.BusinessCalendar {
	return &v1alpha1.BusinessCalendar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: spec}
}

func includes(names ...string) v1alpha1.BusinessCalendarSpec {
	return v1alpha1.BusinessCalendarSpec{Include: names}
}

func readsFile(configMap string) v1alpha1.BusinessCalendarSpec {
	return v1alpha1.BusinessCalendarSpec{ICalendar: &v1alpha1.ICalendarSource{ConfigMapRef: v1alpha1.ConfigMapKeyRef{Name: configMap}}}
}

// file is a ConfigMap with an iCalendar file of one day.
func file(name, day string) *corev1.ConfigMap {
	text := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Office party\nDTSTART;VALUE=DATE:" + strings.ReplaceAll(day, "-", "") + "\nEND:VEVENT\nEND:VCALENDAR\n"
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string]string{"calendar.ics": text}}
}

func isHoliday(t *testing.T, days *calendar.Calendar, text string) bool {
	t.Helper()
	d, err := calendar.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := days.Holiday(d)
	return ok
}

func TestCalendarsAreCompiledAgainOnlyWhenSomethingOfThemChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t, aCalendar("a", includes("b")), aCalendar("b", readsFile("office")), file("office", "2027-03-01"))
	read := func(day string, wantLive int) *calendar.Calendar {
		t.Helper()
		days, err := s.calendar(t.Context(), "shop", "a")
		if err != nil || !isHoliday(t, days, day) {
			t.Fatalf("%s is not a holiday, error %v", day, err)
		}
		if s.reads["live"] != wantLive {
			t.Errorf("the ConfigMap was read %d times, want %d", s.reads["live"], wantLive)
		}
		return days
	}
	first := read("2027-03-01", 1)
	if again := read("2027-03-01", 1); again != first {
		t.Error("it was compiled again without a change")
	}
	s.put(file("office", "2027-03-02"))
	read("2027-03-02", 2)
	read("2027-03-02", 2)
	other := readsFile("office")
	other.Holidays = []v1alpha1.Holiday{{Date: "2027-03-03"}}
	s.put(aCalendar("b", other))
	read("2027-03-03", 3)
}

func TestWhatIsWrongWithACalendarIsKeptAndHeals(t *testing.T) {
	t.Parallel()
	s := newShelf(t, aCalendar("a", readsFile("office")), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "office"}})
	for range 3 {
		if _, err := s.calendar(t.Context(), "shop", "a"); !errors.Is(err, errConfigMapUnavailable) || !isCalendarFault(err) {
			t.Fatalf("error %v", err)
		}
	}
	if s.reads["live"] != 1 {
		t.Errorf("the ConfigMap was read %d times, want once", s.reads["live"])
	}
	s.put(file("office", "2027-03-01"))
	if _, err := s.calendar(t.Context(), "shop", "a"); err != nil {
		t.Error(err)
	}
}

func TestAFailureToReadIsNoFaultAndIsNotKept(t *testing.T) {
	t.Parallel()
	for name, objects := range map[string][]client.Object{
		"of the calendar":           {},
		"of what it includes":       {aCalendar("a", includes("b"))},
		"of the ConfigMap's header": {aCalendar("a", readsFile("office"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t, objects...)
			s.failure = apierrors.NewTooManyRequests("slow down", 1)
			_, err := s.calendar(t.Context(), "shop", "a")
			if !apierrors.IsTooManyRequests(err) || isCalendarFault(err) || calendarSummary(err).IsStalled() {
				t.Errorf("error %v, %+v", err, calendarSummary(err))
			}
		})
	}
	s := newShelf(t, aCalendar("a", readsFile("office")), file("office", "2027-03-01"))
	s.Reader = interceptor.NewClient(s.api, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return apierrors.NewTooManyRequests("slow down", 1)
	}})
	if _, err := s.calendar(t.Context(), "shop", "a"); !apierrors.IsTooManyRequests(err) || isCalendarFault(err) {
		t.Errorf("error %v", err)
	}
	s.Reader = s.api
	if _, err := s.calendar(t.Context(), "shop", "a"); err != nil {
		t.Errorf("the failure was kept: %v", err)
	}
}

func TestNothingIsKeptOfACalendarThatIsGone(t *testing.T) {
	t.Parallel()
	s := newShelf(t, aCalendar("a", v1alpha1.BusinessCalendarSpec{}))
	if _, err := s.calendar(t.Context(), "shop", "a"); err != nil || len(s.calendars.all) != 1 {
		t.Fatalf("%d kept, error %v", len(s.calendars.all), err)
	}
	if err := s.api.Delete(t.Context(), aCalendar("a", v1alpha1.BusinessCalendarSpec{})); err != nil {
		t.Fatal(err)
	}
	_, err := s.calendar(t.Context(), "shop", "a")
	if !errors.Is(err, convert.ErrCalendarNotFound) || err.Error() != "calendar a: there is no such calendar; create it" || len(s.calendars.all) != 0 {
		t.Errorf("%d kept, error %v", len(s.calendars.all), err)
	}
}

func TestIncludesAreReadUpToABound(t *testing.T) {
	t.Parallel()
	var chain []client.Object
	for i := range 200 {
		chain = append(chain, aCalendar(fmt.Sprint("c", i), includes(fmt.Sprint("c", i+1))))
	}
	s := newShelf(t, chain...)
	_, err := s.calendar(t.Context(), "shop", "c0")
	if err == nil || !strings.Contains(err.Error(), "more than 63 calendars are included in all; include fewer") {
		t.Errorf("error %v", err)
	}
	if s.reads["cached"] > calendar.MaxCalendars+1 {
		t.Errorf("%d calendars were read", s.reads["cached"])
	}
	if _, err := s.calendar(t.Context(), "shop", "c137"); !errors.Is(err, convert.ErrCalendarNotFound) {
		t.Errorf("error %v, want that c200 is missing", err)
	}
	s.put(aCalendar("c200", v1alpha1.BusinessCalendarSpec{}))
	if _, err := s.calendar(t.Context(), "shop", "c137"); err != nil {
		t.Errorf("64 in all: %v", err)
	}
}

func TestCalendarsAndSchedulesThatAChangeConcerns(t *testing.T) {
	t.Parallel()
	naming := func(schedule, calendar string) client.Object {
		return aSchedule(v1alpha1.ScheduleSpec{Every: duration(time.Hour), CalendarName: calendar}, func(o *v1alpha1.ReminderSchedule) { o.Name = schedule })
	}
	elsewhere := aCalendar("a", includes("c"))
	elsewhere.Namespace = "bank"
	s := newShelf(t, aCalendar("a", includes("b")), aCalendar("b", includes("c", "a")), aCalendar("d", includes("b")), aCalendar("c", readsFile("office")),
		aCalendar("e", readsFile("office")), elsewhere, naming("of-a", "a"), naming("of-c", "c"), naming("of-d", "d"), naming("of-d-too", "d"), naming("of-none", ""))
	cases := map[string]struct {
		changed              client.Object
		calendars, schedules []string
	}{
		"one that nobody includes":              {aCalendar("d", v1alpha1.BusinessCalendarSpec{}), []string{"d"}, []string{"of-d", "of-d-too"}},
		"one that others include, with a cycle": {aCalendar("c", v1alpha1.BusinessCalendarSpec{}), []string{"a", "b", "c", "d"}, []string{"of-a", "of-c", "of-d", "of-d-too"}},
		"one that does not exist":               {aCalendar("x", v1alpha1.BusinessCalendarSpec{}), []string{"x"}, nil},
		"a ConfigMap":                           {file("office", "2027-03-01"), []string{"a", "b", "c", "d", "e"}, []string{"of-a", "of-c", "of-d", "of-d-too"}},
		"a ConfigMap that no calendar names":    {file("other", "2027-03-01"), nil, nil},
	}
	names := func(requests []ctrl.Request) []string {
		var all []string
		for _, r := range requests {
			if r.Namespace != "shop" {
				t.Errorf("%s is of another namespace", r)
			}
			all = append(all, r.Name)
		}
		slices.Sort(all)
		return all
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.calendars, names(s.calendarsOf(t.Context(), c.changed))); diff != "" {
				t.Error("calendars", diff)
			}
			if diff := cmp.Diff(c.schedules, names(s.schedulesOfCalendar(t.Context(), c.changed))); diff != "" {
				t.Error("schedules", diff)
			}
		})
	}
}

// Status tells the year from today on, and is written once a day at most when nothing else happens.
func TestTheYearAheadMovesOn(t *testing.T) {
	t.Parallel()
	spec := v1alpha1.BusinessCalendarSpec{Holidays: []v1alpha1.Holiday{
		{Date: "2026-11-29"}, {Date: "2026-11-30", Name: "Today"}, {Date: "2026-12-24", Name: strings.Repeat("é", 128)},
		{Date: "2027-11-30", Name: "In 365 days"}, {Date: "2027-12-01", Name: "In 366 days"},
	}}
	s := newShelf(t, aCalendar("a", spec))
	r := &calendarReconciler{Options: s.Options, status: &condition.Writer{Client: s.Client, Now: s.Now}}
	look := func(wait time.Duration, holidays int32, message string) {
		t.Helper()
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "a"}})
		if err != nil || result.RequeueAfter != wait {
			t.Errorf("comes back after %s, error %v; want %s", result.RequeueAfter, err, wait)
		}
		obj := aCalendar("a", v1alpha1.BusinessCalendarSpec{})
		if err := s.api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		ready := obj.Status.Conditions[0]
		if obj.Status.Holidays != holidays || ready.Reason != v1alpha1.ReasonAvailable || ready.Message != message {
			t.Errorf("%d holidays, %s: %q; want %d and %q", obj.Status.Holidays, ready.Reason, ready.Message, holidays, message)
		}
	}
	look(12*time.Hour+5*time.Second, 3, "3 holidays in the year ahead; next 2026-11-30 Today")
	s.today = s.today.Add(12*time.Hour + 5*time.Second)
	look(24*time.Hour, 3, "3 holidays in the year ahead; next 2026-12-24 "+strings.Repeat("é", 128))
	s.today = clock("2027-12-01T23:59:59Z")
	look(6*time.Second, 1, "1 holiday in the year ahead; next 2027-12-01 In 366 days")
	s.today = clock("2027-12-02T00:00:00Z")
	look(24*time.Hour+5*time.Second, 0, "no holidays in the year ahead")
}
