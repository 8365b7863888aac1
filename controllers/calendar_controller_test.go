package controllers

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// office is a namespace of a real API server, with the controller of calendars at work.
type office struct {
	*testing.T
	api       client.Client
	namespace string
}

// One API server and one controller serve all tests: their start is the slow part.
func TestCalendarsOnARealAPIServer(t *testing.T) {
	t.Parallel()
	api := startCalendars(t)
	for name, run := range map[string]func(office){
		"a calendar tells the year ahead":                      yearAhead,
		"one that is included may come later, and go":          includeComesAndGoes,
		"calendars that include each other name the circle":    circle,
		"a calendar without a business day is refused":         noBusinessDay,
		"a ConfigMap may come later, and go":                   configMapComesAndGoes,
		"an edit of a ConfigMap is followed through includes":  configMapEdited,
		"a file that is too much is refused with the remedy":   tooMuch,
		"an unknown country or region is refused":              unknownPlaces,
		"what people write into status is mended":              statusEditedByHand,
		"a calendar that is mended tells the year ahead again": mended,
		"the sample is true, and so are its comments":          sample,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "office-"}}
			if err := api.Create(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}
			run(office{t, api, namespace.Name})
		})
	}
}

func startCalendars(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	ctrl.SetLogger(logr.Discard()) // the clients' chatter
	c := cluster.StartT(t, cluster.Options{NoNATS: true})
	rest := c.Kube.RESTConfig()
	rest.QPS = -1
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(), Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	o := Options{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Events: &events.FakeRecorder{}, StatusInterval: 10 * time.Millisecond,
		Now: func() time.Time { return clock("12:00:00").Add(time.Since(started)) }, calendars: &calendarCache{},
	}
	if err := setUpCalendars(t.Context(), mgr, o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	api, err := client.New(rest, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func (o office) apply(objects ...client.Object) {
	o.Helper()
	for _, obj := range objects {
		obj.SetNamespace(o.namespace)
		if err := o.api.Create(o.Context(), obj); err != nil {
			o.Fatal(err)
		}
	}
}

func (o office) edit(obj client.Object, how func()) {
	o.Helper()
	obj.SetNamespace(o.namespace)
	err := wait.PollUntilContextTimeout(o.Context(), 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := o.api.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err
		}
		how()
		return o.api.Update(ctx, obj) == nil, nil
	})
	if err != nil {
		o.Fatalf("edit %s: %v", obj.GetName(), err)
	}
}

func (o office) remove(obj client.Object) {
	o.Helper()
	obj.SetNamespace(o.namespace)
	if err := o.api.Delete(o.Context(), obj); err != nil {
		o.Fatal(err)
	}
}

// settles waits until the status of a calendar has a reason and a message, or a part of it, and answers it.
func (o office) settles(name, reason, message string) v1alpha1.BusinessCalendarStatus {
	o.Helper()
	obj := aCalendar(name, v1alpha1.BusinessCalendarSpec{})
	obj.Namespace = o.namespace
	last := ""
	err := wait.PollUntilContextTimeout(o.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := o.api.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err
		}
		ready := meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ReadyCondition)
		if ready == nil {
			return false, nil
		}
		last = ready.Reason + ": " + ready.Message
		return ready.Reason == reason && strings.Contains(ready.Message, message) && obj.Status.ObservedGeneration == obj.Generation, nil
	})
	if err != nil {
		o.Fatalf("%s is %s; want %s: %s", name, last, reason, message)
	}
	for _, fault := range condition.Check(obj.Status.Conditions, obj.Generation) {
		o.Errorf("%s: %s", name, fault)
	}
	o.checkKind(obj.Status, reason)
	return obj.Status
}

// checkKind tells waits from what only an edit can help.
func (o office) checkKind(status v1alpha1.BusinessCalendarStatus, reason string) {
	o.Helper()
	want := v1alpha1.StalledCondition
	switch reason {
	case v1alpha1.ReasonAvailable:
		return
	case v1alpha1.ReasonCalendarNotFound, v1alpha1.ReasonConfigMapUnavailable:
		want = v1alpha1.ReconcilingCondition
	}
	if !meta.IsStatusConditionTrue(status.Conditions, want) {
		o.Errorf("%s without %s", reason, want)
	}
	if status.Holidays != 0 || status.Upcoming != nil || status.DataVersion != "" {
		o.Errorf("a calendar that cannot be used tells of %d holidays, %v, %s", status.Holidays, status.Upcoming, status.DataVersion)
	}
}

func yearAhead(o office) {
	o.apply(aCalendar("de", v1alpha1.BusinessCalendarSpec{
		Country: "DE", Region: "DE-BY", Holidays: []v1alpha1.Holiday{{Date: "2026-12-24", Name: "Christmas Eve"}},
	}))
	status := o.settles("de", v1alpha1.ReasonAvailable, "13 holidays in the year ahead; next 2026-12-24 Christmas Eve")
	var dates []string
	for _, h := range status.Upcoming {
		dates = append(dates, h.Date)
	}
	if got := fmt.Sprint(dates); status.Holidays != 13 || got != "[2026-12-24 2026-12-25 2026-12-26 2027-01-01 2027-01-06]" {
		o.Errorf("%d holidays, next %s", status.Holidays, got)
	}
	if status.DataVersion != calendar.DataVersion() {
		o.Errorf("the data is %q, want %q", status.DataVersion, calendar.DataVersion())
	}
	o.apply(aCalendar("plain", v1alpha1.BusinessCalendarSpec{}))
	o.settles("plain", v1alpha1.ReasonAvailable, "no holidays in the year ahead")
}

// Row "References": missing, created later, deleted. Through another calendar, too.
func includeComesAndGoes(o office) {
	o.apply(aCalendar("outer", includes("inner")), aCalendar("inner", includes("target2")))
	missing := `calendar inner: spec.include[0]: there is no calendar "target2"; create it, or take it out of "inner"`
	o.settles("inner", v1alpha1.ReasonCalendarNotFound, missing)
	o.settles("outer", v1alpha1.ReasonCalendarNotFound, missing)
	o.apply(aCalendar("target2", v1alpha1.BusinessCalendarSpec{Country: "EU"}))
	o.settles("inner", v1alpha1.ReasonAvailable, "next 2026-12-25")
	o.settles("outer", v1alpha1.ReasonAvailable, "next 2026-12-25")
	target2 := aCalendar("target2", v1alpha1.BusinessCalendarSpec{})
	o.edit(target2, func() { target2.Spec.Holidays = []v1alpha1.Holiday{{Date: "2026-12-01", Name: "Audit"}} })
	o.settles("outer", v1alpha1.ReasonAvailable, "next 2026-12-01 Audit")
	o.remove(target2)
	o.settles("inner", v1alpha1.ReasonCalendarNotFound, missing)
	o.settles("outer", v1alpha1.ReasonCalendarNotFound, missing)
}

func circle(o office) {
	b := aCalendar("b", includes("a"))
	o.apply(aCalendar("a", includes("b")), b)
	o.settles("a", v1alpha1.ReasonCalendarCycle, "calendar b: spec.include[0]: calendars include each other: a → b → a; take one of them out")
	o.settles("b", v1alpha1.ReasonCalendarCycle, "calendar a: spec.include[0]: calendars include each other: b → a → b; take one of them out")
	o.edit(b, func() { b.Spec.Include = nil })
	o.settles("a", v1alpha1.ReasonAvailable, "no holidays")
	o.settles("b", v1alpha1.ReasonAvailable, "no holidays")
}

func noBusinessDay(o office) {
	var every []v1alpha1.Holiday
	for d := range calendar.Date(400) {
		every = append(every, v1alpha1.Holiday{Date: (calendar.NewDate(2027, time.January, 1) + d).String()})
	}
	o.apply(aCalendar("listed", v1alpha1.BusinessCalendarSpec{Holidays: every}))
	o.settles("listed", v1alpha1.ReasonNoBusinessDay, "there is no business day, from morning to night, in the 402 days from 2027-01-01 on; remove holidays")
	daily := file("daily", "2027-01-01")
	daily.Data["calendar.ics"] = strings.Replace(daily.Data["calendar.ics"], "END:VEVENT", "RRULE:FREQ=WEEKLY\nEND:VEVENT", 1)
	six := readsFile("daily")
	six.Weekend = []v1alpha1.Weekday{v1alpha1.Monday, v1alpha1.Tuesday, v1alpha1.Wednesday, v1alpha1.Thursday, v1alpha1.Saturday, v1alpha1.Sunday}
	o.apply(daily, aCalendar("weekly", six))
	o.settles("weekly", v1alpha1.ReasonNoBusinessDay, "remove holidays, early closes, or days of the weekend")
	o.apply(aCalendar("names-it", includes("weekly")))
	o.settles("names-it", v1alpha1.ReasonAvailable, "next 2027-01-01 Office party") // its own weekend has days between
}

func configMapComesAndGoes(o office) {
	spec := readsFile("office")
	spec.ICalendar.ConfigMapRef.Key = "team.ics"
	o.apply(aCalendar("a", spec), aCalendar("outer", includes("a")))
	o.settles("a", v1alpha1.ReasonConfigMapUnavailable, "calendar a: spec.iCalendar.configMapRef: ConfigMap office does not exist in this namespace; create it with the key team.ics")
	o.settles("outer", v1alpha1.ReasonConfigMapUnavailable, "calendar a: spec.iCalendar.configMapRef: ConfigMap office does not exist")
	text := file("office", "2027-03-01").Data["calendar.ics"]
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "office"}}
	o.apply(configMap)
	o.settles("a", v1alpha1.ReasonConfigMapUnavailable, "ConfigMap office has no key team.ics; add it, or name another")
	o.edit(configMap, func() { configMap.Data = map[string]string{"team.ics": ""} })
	o.settles("a", v1alpha1.ReasonConfigMapUnavailable, "key team.ics of ConfigMap office is empty; write an iCalendar file into it")
	o.edit(configMap, func() { configMap.Data["team.ics"] = text })
	o.settles("a", v1alpha1.ReasonAvailable, "1 holiday in the year ahead; next 2027-03-01 Office party")
	o.settles("outer", v1alpha1.ReasonAvailable, "next 2027-03-01 Office party")
	o.edit(configMap, func() {
		configMap.Data, configMap.BinaryData = nil, map[string][]byte{"team.ics": []byte(strings.ReplaceAll(text, "Office party", "F\xeate"))}
	})
	o.settles("a", v1alpha1.ReasonAvailable, "next 2027-03-01 F\uFFFDte")
	o.remove(configMap)
	o.settles("a", v1alpha1.ReasonConfigMapUnavailable, "does not exist")
	o.settles("outer", v1alpha1.ReasonConfigMapUnavailable, "does not exist")
}

func configMapEdited(o office) {
	configMap := file("office", "2027-03-01")
	o.apply(configMap, aCalendar("a", readsFile("office")), aCalendar("b", includes("a")), aCalendar("c", includes("b")))
	for _, day := range []string{"2027-03-01", "2027-03-02", "2027-03-03"} {
		o.edit(configMap, func() { configMap.Data = file("office", day).Data })
		for _, name := range []string{"a", "b", "c"} {
			o.settles(name, v1alpha1.ReasonAvailable, "next "+day)
		}
	}
}

// A ConfigMap holds at most 1 MiB, so that a file of 10 MiB is refused before we see it.
func tooMuch(o office) {
	const event = "BEGIN:VEVENT\nSUMMARY:Summer party\nDTSTART;VALUE=DATE:20270702\nEND:VEVENT\n"
	whole := func(events string) map[string]string {
		return map[string]string{"calendar.ics": "BEGIN:VCALENDAR\n" + events + "END:VCALENDAR\n"}
	}
	o.apply(aCalendar("events", readsFile("events")), aCalendar("names", readsFile("names")), aCalendar("attachment", readsFile("attachment")), aCalendar("page", readsFile("page")))
	o.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "events"}, Data: whole(strings.Repeat(event, (1<<20-100)/len(event)))})
	o.settles("events", v1alpha1.ReasonInvalidSpec, "calendar events: spec.iCalendar: there are more than 1000 events; leave out past years, or let events repeat by RRULE")
	long := strings.Replace(event, "Summer", strings.Repeat("Summer ", 140), 1)
	o.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "names"}, Data: whole(strings.Repeat(long, 990))})
	o.settles("names", v1alpha1.ReasonInvalidSpec, "the dates, rules and names of the events have more than 262144 bytes; leave out past years, or use several calendars")
	attached := strings.Replace(event, "SUMMARY", "ATTACH;ENCODING=BASE64:"+strings.Repeat("QUJD", 250_000)+"\nSUMMARY", 1)
	o.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "attachment"}, Data: whole(attached)})
	o.settles("attachment", v1alpha1.ReasonAvailable, "1 holiday in the year ahead; next 2027-07-02 Summer party")
	o.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "page"}, Data: map[string]string{"calendar.ics": "<html>"}})
	o.settles("page", v1alpha1.ReasonInvalidSpec, "spec.iCalendar: line 1 is outside of any component; write an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR")
}

func unknownPlaces(o office) {
	for name, c := range map[string]struct {
		spec v1alpha1.BusinessCalendarSpec
		want string
	}{
		"in":    {v1alpha1.BusinessCalendarSpec{Country: "IN"}, `spec.country: the holidays of "IN" are not known here; give explicit dates in holidays, or an iCalendar file in iCalendar`},
		"uk":    {v1alpha1.BusinessCalendarSpec{Country: "UK"}, "spec.country: the code of the United Kingdom is GB; write GB"},
		"au-xx": {v1alpha1.BusinessCalendarSpec{Country: "AU", Region: "AU-XX"}, `spec.region: the holidays of region "AU-XX" are not known; write AU-ACT, AU-NSW,`},
	} {
		o.apply(aCalendar(name, c.spec), aCalendar("with-"+name, includes(name)))
		o.settles(name, v1alpha1.ReasonInvalidSpec, "calendar "+name+": "+c.want)
		o.settles("with-"+name, v1alpha1.ReasonInvalidSpec, "calendar "+name+": "+c.want)
	}
}

func statusEditedByHand(o office) {
	obj := aCalendar("eu", v1alpha1.BusinessCalendarSpec{Country: "EU"})
	o.apply(obj)
	want := o.settles("eu", v1alpha1.ReasonAvailable, "next 2026-12-25")
	before := obj.DeepCopy()
	obj.Status.Upcoming = []v1alpha1.Holiday{{Date: "2030-01-01", Name: "Never"}}
	obj.Status.Holidays = 99
	if err := o.api.Status().Patch(o.Context(), obj, client.MergeFrom(before)); err != nil {
		o.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(o.Context(), 20*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return !condition.Differs(o.settles("eu", v1alpha1.ReasonAvailable, "next 2026-12-25"), want), nil
	})
	if err != nil {
		o.Error("it stays as it was written by hand")
	}
}

func mended(o office) {
	obj := aCalendar("de", v1alpha1.BusinessCalendarSpec{Country: "DE"})
	o.apply(obj)
	first := o.settles("de", v1alpha1.ReasonAvailable, "next 2026-12-25")
	o.edit(obj, func() { obj.Spec.Country = "XX" })
	o.settles("de", v1alpha1.ReasonInvalidSpec, "spec.country")
	o.edit(obj, func() { obj.Spec.Country = "DE" })
	if again := o.settles("de", v1alpha1.ReasonAvailable, "next 2026-12-25"); again.Holidays != first.Holidays {
		o.Errorf("%d holidays, before it were %d", again.Holidays, first.Holidays)
	}
}

// What stands in the sample as a comment is an example that works once what it names is there.
func sample(o office) {
	text, err := os.ReadFile("../config/samples/reminders_v1alpha1_businesscalendar.yaml")
	if err != nil {
		o.Fatal(err)
	}
	parsed := func(text string) *v1alpha1.BusinessCalendar {
		obj := &v1alpha1.BusinessCalendar{}
		if err := yaml.UnmarshalStrict([]byte(text), obj); err != nil {
			o.Fatalf("%v in\n%s", err, text)
		}
		return obj
	}
	obj := parsed(string(text))
	o.apply(obj)
	o.settles("de-banking", v1alpha1.ReasonAvailable, "13 holidays in the year ahead; next 2026-12-24 Christmas Eve")
	whole := parsed(strings.NewReplacer("# iCalendar:", "iCalendar:", "#   configMapRef", "  configMapRef", "# include", "include").Replace(string(text)))
	if whole.Spec.ICalendar == nil || len(whole.Spec.Include) != 1 {
		o.Fatalf("the examples are not %+v", whole.Spec)
	}
	o.edit(obj, func() { obj.Spec = whole.Spec })
	o.settles("de-banking", v1alpha1.ReasonConfigMapUnavailable, "office-calendar")
	o.apply(file("office-calendar", "2026-12-01"))
	o.settles("de-banking", v1alpha1.ReasonCalendarNotFound, "target2")
	o.apply(aCalendar("target2", v1alpha1.BusinessCalendarSpec{Country: "EU"}))
	o.settles("de-banking", v1alpha1.ReasonAvailable, "next 2026-12-01 Office party")
}
