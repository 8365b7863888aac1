package convert_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// field is one leaf of a spec: its path, and how to set it alone.
type field struct {
	path string
	set  func(spec reflect.Value)
}

// whole are the types that a field is set with as one value.
var whole = []reflect.Type{
	reflect.TypeFor[metav1.Duration](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[corev1.ResourceRequirements](),
}

// leavesOf are all fields below a type. A list has its element's fields, with [].
func leavesOf(t reflect.Type, path string, at func(reflect.Value) reflect.Value) []field {
	switch {
	case t.Kind() == reflect.Pointer:
		return leavesOf(t.Elem(), path, func(spec reflect.Value) reflect.Value {
			v := at(spec)
			if v.IsNil() {
				v.Set(reflect.New(t.Elem()))
			}
			return v.Elem()
		})
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !slices.Contains(whole, t.Elem()):
		return leavesOf(t.Elem(), path+"[]", func(spec reflect.Value) reflect.Value {
			v := at(spec)
			v.Set(reflect.MakeSlice(t, 1, 1))
			return v.Index(0)
		})
	case t.Kind() == reflect.Struct && t.NumField() > 0 && !slices.Contains(whole, t):
		var all []field
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			all = append(all, leavesOf(t.Field(i).Type, path+"."+name, func(spec reflect.Value) reflect.Value { return at(spec).Field(i) })...)
		}
		return all
	}
	return []field{{path, func(spec reflect.Value) { fill(at(spec)) }}}
}

// fill sets some value that is not the zero one.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	default:
		if f := v.FieldByName("Duration"); f.IsValid() {
			f.SetInt(1)
		}
	}
}

// checkFields holds that each field of a spec is either supported, or named when
// it is set. A new field of the API fails here until it is one of the two.
func checkFields(t *testing.T, spec reflect.Type, supported []string, values map[string]string, unsupported func(set func(reflect.Value)) []string) {
	t.Helper()
	met := map[string]bool{}
	for _, f := range leavesOf(spec, "spec", func(v reflect.Value) reflect.Value { return v }) {
		met[f.path] = true
		named := slices.ContainsFunc(unsupported(func(v reflect.Value) {
			f.set(v)
			if value, ok := values[f.path]; ok {
				setText(v, f.path, value)
			}
		}), func(name string) bool {
			name, _, _ = strings.Cut(name, ":")
			return name == f.path || strings.HasPrefix(f.path, name+".") || strings.HasPrefix(f.path, name+"[]")
		})
		switch known := slices.Contains(supported, f.path); {
		case !named && !known:
			t.Errorf("%s is accepted silently: act on it and list it here, or name it as unsupported", f.path)
		case named && known:
			t.Errorf("%s is supported, and named as unsupported", f.path)
		}
	}
	for _, path := range supported {
		if !met[path] {
			t.Errorf("%s is listed as supported, and is no field", path)
		}
	}
}

// setText sets the text field at a path.
func setText(spec reflect.Value, path, value string) {
	for _, f := range leavesOf(spec.Type(), "spec", func(v reflect.Value) reflect.Value { return v }) {
		if f.path == path {
			f.set(spec)
		}
	}
	at := spec
	for _, name := range strings.Split(path, ".")[1:] {
		at = reflect.Indirect(at).FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
	}
	at.SetString(value)
}

func TestEveryFieldOfAScheduleActsOrIsNamed(t *testing.T) {
	t.Parallel()
	supported := []string{
		"spec.schedule.cron", "spec.schedule.at", "spec.schedule.every", "spec.schedule.timeZone", "spec.schedule.dayMatch",
		"spec.schedule.dst.gap", "spec.schedule.dst.overlap", "spec.schedule.startTime", "spec.schedule.endTime",
		"spec.schedule.rrule", "spec.schedule.anchor.attribute", "spec.schedule.anchor.offset", "spec.schedule.anchor.time",
		"spec.schedule.timeZoneFrom", "spec.schedule.calendarName", "spec.schedule.onNonBusinessDay", "spec.schedule.jitter",
		"spec.suspend", "spec.catchUp.policy", "spec.catchUp.window", "spec.catchUp.limit", "spec.identity", "spec.ttlAfterFinished",
		"spec.recipients[].id", "spec.recipients[].address", "spec.recipients[].timeZone", "spec.recipients[].attributes", "spec.recipients[].active",
		"spec.channelName", "spec.message.subject", "spec.message.body", "spec.message.html", "spec.message.unsubscribeURL",
		"spec.delivery.deadline", "spec.delivery.deadlineTimeOfDay", "spec.delivery.eligibility", "spec.delivery.eligibilityURL", "spec.delivery.onUnknown", "spec.delivery.retry.attempts", "spec.delivery.retry.initialDelay",
		"spec.delivery.retry.factor", "spec.delivery.retry.maxDelay", "spec.delivery.retry.delays",
	}
	checkFields(t, reflect.TypeFor[v1alpha1.ReminderScheduleSpec](), supported, nil, func(set func(reflect.Value)) []string {
		obj := &v1alpha1.ReminderSchedule{}
		set(reflect.ValueOf(&obj.Spec).Elem())
		return convert.UnsupportedSchedule(obj)
	})
}

func TestEveryFieldOfAChannelActsOrIsNamed(t *testing.T) {
	t.Parallel()
	supported := []string{
		"spec.type", "spec.log", "spec.nats.subject", "spec.idempotency", "spec.dedupeWindow", "spec.reconcileURL",
		"spec.rateLimit.perSecond", "spec.rateLimit.burst", "spec.maxInFlightPerTenant",
		"spec.http.url", "spec.http.method", "spec.http.headers[].name", "spec.http.headers[].value", "spec.http.secretName", "spec.http.timeout", "spec.http.successCodes",
		"spec.smtp.host", "spec.smtp.port", "spec.smtp.tls", "spec.smtp.from", "spec.smtp.secretName", "spec.smtp.timeout",
		"spec.workers.replicas", "spec.workers.concurrency", "spec.workers.resources",
	}
	checkFields(t, reflect.TypeFor[v1alpha1.ReminderChannelSpec](), supported, nil, func(set func(reflect.Value)) []string {
		obj := &v1alpha1.ReminderChannel{}
		set(reflect.ValueOf(&obj.Spec).Elem())
		return convert.UnsupportedChannel(obj)
	})
}

func TestWhatTheSchemaFillsInIsNotNamed(t *testing.T) {
	t.Parallel()
	obj := daily(func(o *v1alpha1.ReminderSchedule) {
		o.Spec.Schedule.TimeZoneFrom = v1alpha1.TimeZoneFromSchedule
		o.Spec.Schedule.Jitter = seconds(0)
		o.Spec.Identity = v1alpha1.IdentityDueTime
		o.Spec.CatchUp = &v1alpha1.CatchUpPolicy{Policy: v1alpha1.CatchUpLatest, Window: seconds(3600), Limit: new(int32(100))}
	})
	if got := convert.UnsupportedSchedule(obj); len(got) > 0 {
		t.Errorf("named as unsupported: %v", got)
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fields []string
		want   string
	}{
		"none":         {nil, ""},
		"one":          {[]string{"a"}, "a"},
		"five":         {strings.Split("abcde", ""), "a, b, c, d, e"},
		"six and more": {strings.Split("abcdefg", ""), "a, b, c, d, e, and 2 more"},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, convert.Listed(c.fields)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
