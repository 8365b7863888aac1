package api_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// accept has objects that look odd and are right.
func accept(t *testing.T, api client.Client) {
	type good struct {
		base  string
		edits []edit
	}
	cases := map[string]good{
		"a past time":                         {goodSchedule, when("at", "2020-11-03T09:00:00")},
		"a time with an offset":               {goodSchedule, when("at", "2026-11-03T09:00:00+01:00")},
		"a time in UTC":                       {goodSchedule, when("at", "2026-11-03T08:00:00Z")},
		"a leap day":                          {goodSchedule, when("at", "2028-02-29T08:00:00")},
		"every 36h":                           {goodSchedule, when("every", "36h")},
		"every at its least":                  {goodSchedule, when("every", "10s")},
		"every at its most":                   {goodSchedule, when("every", "8784h0m0s")},
		"a macro":                             {goodSchedule, when("cron", "@Weekly")},
		"a cron with names and blanks":        {goodSchedule, when("cron", " */5  9-17 L * MON#2,FRIL ")},
		"a rule":                              {goodSchedule, when("rrule", "FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0;UNTIL=20271231T000000Z")},
		"a rule of the year's days":           {goodSchedule, when("rrule", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO,TU")},
		"an anchor":                           {goodSchedule, when("anchor", map[string]any{"attribute": "renewalDate", "offset": "-P3D", "time": "09:00"})},
		"a zone with an old name":             {goodSchedule, []edit{set("spec.schedule.timeZone", "Asia/Calcutta")}},
		"a zone with a sign in it":            {goodSchedule, []edit{set("spec.schedule.timeZone", "Etc/GMT+5")}},
		"a zone of three parts":               {goodSchedule, []edit{set("spec.schedule.timeZone", "America/Argentina/Buenos_Aires")}},
		"a zone that is UTC":                  {goodSchedule, []edit{set("spec.schedule.timeZone", "UTC")}},
		"ids that differ by case":             {goodSchedule, []edit{set("spec.recipients", []any{map[string]any{"id": "a", "address": "x"}, map[string]any{"id": "A", "address": "x"}})}},
		"an id of a subject's wildcards":      {goodSchedule, []edit{set("spec.recipients.0.id", "x.>*ü 漢字")}},
		"a schedule name with dots":           {goodSchedule, []edit{set("metadata.name", "a.b")}},
		"a source without recipients":         {goodSchedule, []edit{without("spec.recipients"), set("spec.recipientsFrom", []any{map[string]any{"bucketRef": map[string]any{"name": "customers"}}})}},
		"a factor with a decimal":             {goodSchedule, []edit{set("spec.delivery.retry.factor", "1.5")}},
		"a factor that is an integer":         {goodSchedule, []edit{set("spec.delivery.retry.factor", 2)}},
		"listed delays":                       {goodSchedule, []edit{set("spec.delivery.retry", map[string]any{"attempts": 3, "delays": []string{"5m", "10m0s"}})}},
		"a deadline in hours and minutes":     {goodSchedule, []edit{set("spec.delivery.deadline", "1h30m0s")}},
		"a deadline by the clock":             {goodSchedule, []edit{set("spec.delivery.deadlineTimeOfDay", "17:00"), set("spec.schedule.jitter", "20h")}},
		"an eligibility":                      {goodSchedule, []edit{set("spec.delivery.eligibility", "recipient.attributes.status == 'active'")}},
		"a URL to ask for eligibility":        {goodSchedule, []edit{set("spec.delivery.eligibilityURL", "https://billing.example.com:8443/eligible?token=a%2Fb&to=a@b")}},
		"a URL to reconcile with":             {goodHTTP, []edit{set("spec.reconcileURL", "https://[2001:db8::1]/seen"), set("spec.idempotency", "None")}},
		"an objective of five nines":          {goodSchedule, []edit{set("spec.slo", map[string]any{"objective": "99.999", "window": "90d"})}},
		"ttlAfterFinished of a rule's end":    {goodSchedule, append(when("rrule", "FREQ=DAILY;COUNT=3"), set("spec.ttlAfterFinished", "0s"))},
		"ttlAfterFinished of a single time":   {goodSchedule, append(when("at", "2026-11-03T09:00:00"), set("spec.ttlAfterFinished", "24h"))},
		"an IPv6 address with a port":         {goodHTTP, []edit{set("spec.http.url", "https://[2001:db8::1]:8443/a?b=@c")}},
		"an @ behind the host":                {goodHTTP, []edit{set("spec.http.url", "https://host/@team?to=a@b")}},
		"a timeout of 100ms":                  {goodHTTP, []edit{set("spec.http.timeout", "100ms")}},
		"a timeout of one and a half seconds": {goodHTTP, []edit{set("spec.http.timeout", "1.5s")}},
		"no worker":                           {goodHTTP, []edit{set("spec.workers.replicas", 0)}},
		"workers that scale from none":        {goodHTTP, []edit{set("spec.workers", map[string]any{"minReplicas": 0, "maxReplicas": 10, "drainWithin": "2m", "concurrency": 64})}},
		"a relay":                             {goodSMTP, nil},
		"a relay at an address":               {goodSMTP, []edit{set("spec.smtp.host", "::1"), set("spec.smtp.port", 25)}},
		"a subject":                           {goodNATS, []edit{set("spec.dedupeWindow", "2m")}},
		"a log":                               {goodNATS, []edit{without("spec.nats"), set("spec.type", "Log"), set("spec.log", struct{}{})}},
		"a calendar without a weekend":        {goodCalendar, []edit{set("spec.weekend", []string{})}},
		"a calendar of weekends only":         {goodCalendar, []edit{set("spec", struct{}{})}},
		"a replay of keys":                    {goodReplay, []edit{set("spec.keys", []string{"shop/renewal-notice/2026-11-03T08:00:00Z/acct 4821"})}},
	}
	for _, reason := range []reminder.Reason{
		reminder.RetryBudgetExhausted, reminder.DeadlineReached, reminder.PermanentFailure, reminder.InvalidRecipient,
		reminder.EndpointGone, reminder.InvalidMessage, reminder.InvalidEligibility, reminder.ReconciliationRequired, reminder.Poison,
	} {
		cases["a replay of "+string(reason)] = good{goodReplay, []edit{set("spec.reasons", []string{string(reason)})}}
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := create(t, api, changed(t, test.base, test.edits)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("1000 recipients of full size", func(t *testing.T) {
		t.Parallel()
		if err := create(t, api, changed(t, goodSchedule, []edit{set("spec.recipients", fullAudience())})); err != nil {
			t.Error(err)
		}
	})
}

// fullAudience is as many recipients as fit into an object, each with what a real one has.
func fullAudience() []any {
	audience := make([]any, 1000)
	for i := range audience {
		audience[i] = map[string]any{
			"id": fmt.Sprintf("acct_%06d_%s", i, strings.Repeat("x", 200)), "address": strings.Repeat("a", 200) + "@example.com",
			"timeZone": "America/Argentina/ComodRivadavia",
			"attributes": map[string]string{
				"name": strings.Repeat("n", 100), "renewalDate": "2026-11-03", "status": "active", "tenant": "t", "note": strings.Repeat("n", 300),
			},
		}
	}
	return audience
}

// nameUnknownFields has typos, which kubectl and other strict clients are told of.
func nameUnknownFields(t *testing.T, api client.Client) {
	for path, object := range map[string]string{
		"spec.schedule.timezone": goodSchedule, "spec.recipients.0.email": goodSchedule, "spec.http.uri": goodHTTP, "spec.dryrun": goodReplay,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			err := create(t, api, changed(t, object, []edit{set(path, "x")}))
			want := `unknown field "` + strings.Replace(path, ".0.", "[0].", 1) + `"`
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want %s, got %v", want, err)
			}
		})
	}
}

// defaults compares what the API server adds with what the types say.
func defaults(t *testing.T, api client.Client) {
	spec := func(t *testing.T, good string, edits ...edit) map[string]any {
		t.Helper()
		o := changed(t, good, edits)
		if err := create(t, api, o); err != nil {
			t.Fatal(err)
		}
		return o.Object["spec"].(map[string]any)
	}
	t.Run("of a schedule", func(t *testing.T) {
		got := spec(t, goodSchedule,
			set("spec.schedule.dst", struct{}{}), set("spec.catchUp", struct{}{}), set("spec.delivery.retry", struct{}{}), set("spec.slo.objective", "99.9"))
		want := map[string]any{
			"schedule":   map[string]any{"cron": "0 9 * * *", "timeZoneFrom": "Schedule", "dst": map[string]any{"gap": "Shift", "overlap": "First"}},
			"recipients": []any{map[string]any{"id": "acct_4821", "address": "ada@example.com", "active": true}},
			"catchUp": map[string]any{
				"policy": "Latest", "window": short(v1alpha1.DefaultCatchUpWindow), "limit": int64(v1alpha1.DefaultCatchUpLimit),
			},
			"channelName": "billing-email", "message": map[string]any{"body": "Hello"}, "identity": "DueTime", "suspend": false,
			"delivery": map[string]any{"retry": map[string]any{"attempts": int64(v1alpha1.DefaultAttempts)}},
			"slo":      map[string]any{"objective": "99.9", "within": short(v1alpha1.DefaultSLOWithin), "window": v1alpha1.DefaultSLOWindow},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of a channel", func(t *testing.T) {
		got := spec(t, goodHTTP, set("spec.workers", struct{}{}))
		want := map[string]any{
			"type": "HTTP", "idempotency": "ByKey",
			"http":    map[string]any{"url": "https://notify.example.com/reminders", "method": "POST", "timeout": short(v1alpha1.DefaultHTTPTimeout)},
			"workers": map[string]any{"concurrency": int64(v1alpha1.DefaultConcurrency)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of a relay", func(t *testing.T) {
		got := spec(t, goodSMTP)["smtp"]
		want := map[string]any{
			"host": "smtp.example.com", "from": "billing@example.com", "port": int64(v1alpha1.DefaultSMTPPort), "tls": "Require",
			"timeout": short(v1alpha1.DefaultSMTPTimeout),
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of a calendar", func(t *testing.T) {
		got := spec(t, goodCalendar, set("spec", map[string]any{"iCalendar": map[string]any{"configMapRef": map[string]any{"name": "office"}}}))
		want := map[string]any{
			"weekend":   []any{"Saturday", "Sunday"},
			"iCalendar": map[string]any{"configMapRef": map[string]any{"name": "office", "key": v1alpha1.DefaultCalendarKey}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of a replay", func(t *testing.T) {
		got := spec(t, goodReplay)
		want := map[string]any{
			"scheduleName": "renewal-notice", "action": "Replay", "reason": "The gateway was down",
			"limit": int64(v1alpha1.DefaultReplayLimit), "perSecond": int64(v1alpha1.DefaultReplayRate),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an empty weekend of the Go type stays", func(t *testing.T) {
		raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.BusinessCalendar{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BusinessCalendar"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "no-weekend"},
			Spec:       v1alpha1.BusinessCalendarSpec{Weekend: []v1alpha1.Weekday{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{Object: raw}
		if err := create(t, api, o); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedSlice(o.Object, "spec", "weekend"); len(got) != 0 {
			t.Errorf("the weekend is %v", got)
		}
	})
}

// short is a duration as people write it.
func short(d time.Duration) string {
	s := strings.TrimSuffix(d.String(), "0s")
	s = strings.TrimSuffix(s, "0m")
	if s == "" || strings.Trim(s, "0123456789") == "" {
		return d.String()
	}
	return s
}

// samples applies everything under config/samples to a namespace of its own.
func samples(t *testing.T, api client.Client) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"*.yaml", "demo/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, "config", "samples", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	kinds := map[string]bool{}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			for _, o := range documents(t, file) {
				kinds[o.GetKind()] = true
				if o.GetKind() != "Namespace" {
					ensureNamespace(t.Context(), t, api, o)
				}
				err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.DryRunAll)
				if err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
	for _, kind := range []string{"ReminderSchedule", "ReminderChannel", "BusinessCalendar", "ReminderReplay"} {
		if !kinds[kind] {
			t.Errorf("there is no sample of a %s", kind)
		}
	}
}

// ensureNamespace puts an object without a namespace into the default one, and makes the namespace of others.
func ensureNamespace(ctx context.Context, t *testing.T, api client.Client, o *unstructured.Unstructured) {
	t.Helper()
	if o.GetNamespace() == "" {
		o.SetNamespace("default")
		return
	}
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(o.GetNamespace())
	if err := api.Create(ctx, ns); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// documents reads the objects of a file.
func documents(t *testing.T, file string) (objects []*unstructured.Unstructured) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(f, 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); err != nil {
			if err.Error() == "EOF" {
				return objects
			}
			t.Fatal(err)
		}
		if o.GetKind() != "" && o.GetKind() != "Kustomization" {
			objects = append(objects, o)
		}
	}
}
