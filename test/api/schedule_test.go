package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func refuseSchedules(t *testing.T, api client.Client) {
	const (
		objective = `objective is a percentage above 0 and below 100 with a decimal point, such as "99.9"`
		window    = "window is whole days or hours from 1h to 90d, such as 30d"
	)
	slo := func(objective any) []edit { return []edit{set("spec.slo", map[string]any{"objective": objective})} }
	sloWindow := func(w string) []edit {
		return []edit{set("spec.slo", map[string]any{"objective": "99.9", "window": w})}
	}
	refuse(t, api, goodSchedule, map[string]bad{
		"no spec":                              {[]edit{without("spec")}, "spec", "Required value"},
		"no channel":                           {[]edit{without("spec.channelName")}, "spec.channelName", "Required value"},
		"a channel in another namespace":       {[]edit{set("spec.channelName", "other/billing-email")}, "spec.channelName", "should match"},
		"a channel name of 64 characters":      {[]edit{set("spec.channelName", strings.Repeat("a", 64))}, "spec.channelName", "may not be more than 63"},
		"no message":                           {[]edit{without("spec.message")}, "spec.message", "Required value"},
		"an empty body":                        {[]edit{set("spec.message.body", "")}, "spec.message.body", "at least 1 chars long"},
		"a body of 65537 characters":           {[]edit{set("spec.message.body", strings.Repeat("a", 65537))}, "spec.message.body", "may not be more than 65536"},
		"a header in the subject":              {[]edit{set("spec.message.subject", "Hi\r\nBcc: x")}, "spec.message.subject", "subject is one line"},
		"an objective of 0":                    {slo("0"), "spec.slo.objective", objective},
		"an objective of 0.00":                 {slo("0.00"), "spec.slo.objective", objective},
		"an objective of 100":                  {slo("100"), "spec.slo.objective", objective},
		"an objective of 101":                  {slo("101"), "spec.slo.objective", objective},
		"an objective with a comma":            {slo("99,9"), "spec.slo.objective", objective},
		"an objective in percent":              {slo("99.9%"), "spec.slo.objective", objective},
		"a negative objective":                 {slo("-1"), "spec.slo.objective", objective},
		"an objective that is a float":         {slo(99.9), "spec.slo.objective", "must be of type string"},
		"a window of 1 second":                 {sloWindow("1s"), "spec.slo.window", window},
		"a window of 91 days":                  {sloWindow("91d"), "spec.slo.window", window},
		"a window of 2161 hours":               {sloWindow("2161h"), "spec.slo.window", window},
		"a window of no days":                  {sloWindow("0d"), "spec.slo.window", window},
		"in time within nothing":               {[]edit{set("spec.slo", map[string]any{"objective": "99.9", "within": "0s"})}, "spec.slo.within", "within is a duration from 1s to 720h, such as 5m"},
		"ttlAfterFinished without an end":      {[]edit{set("spec.ttlAfterFinished", "24h")}, "spec.ttlAfterFinished", "ttlAfterFinished is for schedules that end"},
		"a negative ttlAfterFinished":          {[]edit{set("spec.ttlAfterFinished", "-1s")}, "spec.ttlAfterFinished", "ttlAfterFinished is a duration from 0s to 8760h, such as 24h"},
		"an identity that does not exist":      {[]edit{set("spec.identity", "Date")}, "spec.identity", `supported values: "DueTime", "BusinessDate"`},
		"a catch-up policy of another product": {[]edit{set("spec.catchUp.policy", "Forbid")}, "spec.catchUp.policy", `supported values: "None", "Latest", "All"`},
		"a catch-up window of 0":               {[]edit{set("spec.catchUp.window", "0s")}, "spec.catchUp.window", "window is a duration from 1m to 720h, such as 1h"},
		"a catch-up limit of 0":                {[]edit{set("spec.catchUp.limit", 0)}, "spec.catchUp.limit", "greater than or equal to 1"},
	})
}

func refuseAudiences(t *testing.T, api client.Client) {
	recipient := func(member string, value any) []edit { return []edit{set("spec.recipients.0."+member, value)} }
	many := make([]any, 10_001) // ten times as many are refused by the same rule, after some seconds
	for i := range many {
		many[i] = map[string]any{"id": fmt.Sprint(i), "address": "a"}
	}
	attributes := map[string]string{}
	for i := range 65 {
		attributes[fmt.Sprint("a", i)] = ""
	}
	twice := []any{map[string]any{"id": "a", "address": "x"}, map[string]any{"id": "a", "address": "y"}}
	source := func(refs ...string) []edit {
		members := map[string]any{}
		for _, r := range refs {
			kind, name, _ := strings.Cut(r, "=")
			members[kind] = map[string]any{"name": name}
		}
		return []edit{set("spec.recipientsFrom", []any{members})}
	}
	refuse(t, api, goodSchedule, map[string]bad{
		"nobody":                       {[]edit{without("spec.recipients")}, "spec", "name at least one recipient in recipients, or a source in recipientsFrom"},
		"an empty list":                {[]edit{set("spec.recipients", []any{})}, "spec", "name at least one recipient in recipients, or a source in recipientsFrom"},
		"10,001 recipients":            {[]edit{set("spec.recipients", many)}, "spec.recipients", "must have at most 1000 items"},
		"the same id twice":            {[]edit{set("spec.recipients", twice)}, "spec.recipients[1]", "Duplicate value"},
		"no id":                        {recipient("id", nil), "spec.recipients[0].id", "Required value"},
		"an empty id":                  {recipient("id", ""), "spec.recipients[0].id", "an id is 1 to 253 characters"},
		"an id of two lines":           {recipient("id", "a\nb"), "spec.recipients[0].id", "an id is 1 to 253 characters without line breaks"},
		"NUL in an id":                 {recipient("id", "a\x00"), "spec.recipients[0].id", "an id is 1 to 253 characters without line breaks"},
		"an id of 254 characters":      {recipient("id", strings.Repeat("a", 254)), "spec.recipients[0].id", "may not be more than 253"},
		"no address":                   {recipient("address", nil), "spec.recipients[0].address", "Required value"},
		"a header in the address":      {recipient("address", "a@b\r\nBcc: c"), "spec.recipients[0].address", "an address is 1 to 2048 characters without line breaks"},
		"an address of 2049":           {recipient("address", strings.Repeat("a", 2049)), "spec.recipients[0].address", "may not be more than 2048"},
		"a recipient in Local":         {recipient("timeZone", "Local"), "spec.recipients[0].timeZone", "timeZone is a name of the IANA time zone database"},
		"65 attributes":                {recipient("attributes", attributes), "spec.recipients[0].attributes", "must have at most 64 items"},
		"an attribute of 1025":         {recipient("attributes", map[string]string{"a": strings.Repeat("a", 1025)}), "spec.recipients[0].attributes", "an attribute has a name of 1 to 63 characters and a value of at most 1024"},
		"an attribute's name of 64":    {recipient("attributes", map[string]string{strings.Repeat("a", 64): "a"}), "spec.recipients[0].attributes", "an attribute has a name of 1 to 63 characters and a value of at most 1024"},
		"an attribute that is a date":  {recipient("attributes", map[string]any{"a": 20261103}), "spec.recipients[0].attributes.a", "must be of type string"},
		"a source that is none":        {source(), "spec.recipientsFrom[0]", "set exactly one of configMapRef, secretRef and bucketRef"},
		"a source that is two":         {source("configMapRef=a", "secretRef=b"), "spec.recipientsFrom[0]", "set exactly one of configMapRef, secretRef and bucketRef"},
		"a source in another place":    {source("secretRef=other/b"), "spec.recipientsFrom[0].secretRef.name", "should match"},
		"a bucket with a dot":          {source("bucketRef=a.b"), "spec.recipientsFrom[0].bucketRef", "a bucket has a name of letters, digits, - and _"},
		"a bucket of the operator":     {source("bucketRef=reminders-ledger-0"), "spec.recipientsFrom[0].bucketRef", "does not begin with reminders-, which is for the operator's own"},
		"17 sources":                   {[]edit{set("spec.recipientsFrom", make([]struct{}, 17))}, "spec.recipientsFrom", "must have at most 16 items"},
		"active that is not a boolean": {recipient("active", "yes"), "spec.recipients[0].active", "must be of type boolean"},
	})
}

func refuseDeliveries(t *testing.T, api client.Client) {
	const (
		deadline = "deadline is a duration from 1s to 720h, such as 4h"
		factor   = "factor is a number from 1 to 10"
		initial  = "initialDelay is a duration from 1s to 24h, such as 30s"
	)
	delivery := func(member string, value any) []edit { return []edit{set("spec.delivery."+member, value)} }
	refuse(t, api, goodSchedule, map[string]bad{
		"a deadline of 0":                      {delivery("deadline", "0s"), "spec.delivery.deadline", deadline},
		"a negative deadline":                  {delivery("deadline", "-1h"), "spec.delivery.deadline", deadline},
		"a deadline of 100 years":              {delivery("deadline", "876000h"), "spec.delivery.deadline", deadline},
		"a deadline of 100 years in ms":        {delivery("deadline", "3153600000000ms"), "spec.delivery.deadline", deadline},
		"a deadline without a unit":            {delivery("deadline", "5"), "spec.delivery.deadline", deadline},
		"a deadline in days":                   {delivery("deadline", "1d"), "spec.delivery.deadline", deadline},
		"two deadlines":                        {[]edit{set("spec.delivery.deadline", "4h"), set("spec.delivery.deadlineTimeOfDay", "17:00")}, "spec.delivery", "set deadline or deadlineTimeOfDay, not both"},
		"a deadline at 25 o'clock":             {delivery("deadlineTimeOfDay", "25:00"), "spec.delivery.deadlineTimeOfDay", "should match"},
		"no attempt":                           {delivery("retry.attempts", 0), "spec.delivery.retry.attempts", "greater than or equal to 1"},
		"51 attempts":                          {delivery("retry.attempts", 51), "spec.delivery.retry.attempts", "less than or equal to 50"},
		"2 to the 31st attempts":               {delivery("retry.attempts", 1<<31), "spec.delivery.retry.attempts", "less than or equal to 50"},
		"a delay of 0":                         {delivery("retry.initialDelay", "0s"), "spec.delivery.retry.initialDelay", initial},
		"a delay that no number holds":         {delivery("retry.initialDelay", "9999999999999999999h"), "spec.delivery.retry.initialDelay", initial},
		"a longest delay below the first":      {[]edit{set("spec.delivery.retry.initialDelay", "10m"), set("spec.delivery.retry.maxDelay", "1m")}, "spec.delivery.retry.maxDelay", "maxDelay must not be shorter than initialDelay"},
		"a factor of 0":                        {delivery("retry.factor", 0), "spec.delivery.retry.factor", factor},
		"a factor of 11":                       {delivery("retry.factor", 11), "spec.delivery.retry.factor", factor},
		"a factor below 1":                     {delivery("retry.factor", "0.5"), "spec.delivery.retry.factor", factor},
		"a factor with a comma":                {delivery("retry.factor", "1,5"), "spec.delivery.retry.factor", factor},
		"a factor that is no number":           {delivery("retry.factor", "NaN"), "spec.delivery.retry.factor", factor},
		"delays and backoff":                   {[]edit{set("spec.delivery.retry.delays", []string{"5m"}), set("spec.delivery.retry.factor", 2)}, "spec.delivery.retry", "set delays, or initialDelay, factor and maxDelay, not both"},
		"no delays":                            {delivery("retry.delays", []string{}), "spec.delivery.retry.delays", "at least 1 items"},
		"a listed delay of 0":                  {delivery("retry.delays", []string{"5m", "0s"}), "spec.delivery.retry.delays[1]", "a delay is a duration from 1s to 24h, such as 5m"},
		"a third choice for unknown":           {delivery("onUnknown", "Drop"), "spec.delivery.onUnknown", `supported values: "Retry", "Park"`},
		"an eligibility of 2049 characters":    {delivery("eligibility", strings.Repeat("a", 2049)), "spec.delivery.eligibility", "may not be more than 2048"},
		"a file to ask for eligibility":        {delivery("eligibilityURL", "file:///etc/passwd"), "spec.delivery.eligibilityURL", "eligibilityURL is an absolute http or https URL"},
		"a password in the eligibility's URL":  {delivery("eligibilityURL", "https://user:pw@host/"), "spec.delivery.eligibilityURL", "eligibilityURL holds no user name or password"},
		"port 99999 in the eligibility's URL":  {delivery("eligibilityURL", "https://host:99999/"), "spec.delivery.eligibilityURL", "the port of eligibilityURL is a number from 1 to 65535"},
		"an eligibility's URL without a host":  {delivery("eligibilityURL", "https:///path"), "spec.delivery.eligibilityURL", "eligibilityURL is an absolute http or https URL"},
		"a fragment in the eligibility's URL":  {delivery("eligibilityURL", "https://host/#a"), "spec.delivery.eligibilityURL", "eligibilityURL has no fragment"},
		"eligibility of the metadata service":  {delivery("eligibilityURL", "http://169.254.169.254/latest"), "spec.delivery.eligibilityURL", "name the host that is to be asked"},
		"the same in disguise":                 {delivery("eligibilityURL", "http://[::ffff:a9fe:a9fe]/"), "spec.delivery.eligibilityURL", "name the host that is to be asked"},
		"eligibility of the API server":        {delivery("eligibilityURL", "https://kubernetes.default.svc/"), "spec.delivery.eligibilityURL", "name the host that is to be asked"},
		"a deadline with seconds":              {delivery("deadlineTimeOfDay", "17:00:00"), "spec.delivery.deadlineTimeOfDay", "may not be more than 5"},
		"a deadline at 24:00":                  {delivery("deadlineTimeOfDay", "24:00"), "spec.delivery.deadlineTimeOfDay", "should match"},
		"an eligibility's URL of 2 characters": {delivery("eligibilityURL", "//"), "spec.delivery.eligibilityURL", "eligibilityURL is an absolute http or https URL"},
	})
}

// Who takes suspend away sets it to false, for the API server, and so the time of that
// is noted in metadata.managedFields. Of fields without a default it is not.
func notesWhoResumes(t *testing.T, api client.Client) {
	t.Parallel()
	o := changed(t, goodSchedule, []edit{set("metadata.name", "resumed"), set("spec.suspend", true), set("spec.schedule.endTime", "2036-01-01T00:00:00Z")})
	if err := api.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for path, noted := range map[string]bool{"spec.schedule.endTime": false, "spec.suspend": true} {
		o.Object = put(t, o.Object, strings.Split(path, "."), nil).(map[string]any)
		if err := api.Update(t.Context(), o, client.FieldOwner(path)); err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == path && e.Time != nil })
		if found != noted {
			t.Errorf("who takes %s away is noted: %v, want %v", path, found, noted)
		}
	}
}
