package api_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const goodHTTP = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderChannel
metadata: {name: billing-email}
spec:
  type: HTTP
  http: {url: "https://notify.example.com/reminders"}
  idempotency: ByKey
`

const goodSMTP = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderChannel
metadata: {name: mail}
spec:
  type: SMTP
  smtp: {host: smtp.example.com, from: billing@example.com}
`

const goodNATS = `
apiVersion: reminders.dev/v1alpha1
kind: ReminderChannel
metadata: {name: bus}
spec:
  type: NATS
  nats: {subject: billing.reminders}
`

func refuseChannels(t *testing.T, api client.Client) {
	const (
		member   = "set exactly the member that type names"
		replicas = "set replicas, or minReplicas, maxReplicas and drainWithin, not both"
	)
	workers := func(members map[string]any) []edit { return []edit{set("spec.workers", members)} }
	refuse(t, api, goodHTTP, map[string]bad{
		"no type":                            {[]edit{without("spec.type")}, "spec.type", "Required value"},
		"a type that does not exist":         {[]edit{set("spec.type", "SMS")}, "spec.type", `supported values: "HTTP", "SMTP", "NATS", "Log"`},
		"no member":                          {[]edit{without("spec.http")}, "spec", member},
		"the member of another type":         {[]edit{set("spec.type", "NATS")}, "spec", member},
		"two members":                        {[]edit{set("spec.log", struct{}{})}, "spec", member},
		"HTTP without idempotency":           {[]edit{without("spec.idempotency")}, "spec.idempotency", "say whether the receiver deduplicates on the Idempotency-Key header"},
		"an idempotency that does not exist": {[]edit{set("spec.idempotency", "Maybe")}, "spec.idempotency", `supported values: "ByKey", "None"`},
		"a window without deduplication":     {[]edit{set("spec.idempotency", "None"), set("spec.dedupeWindow", "24h")}, "spec.dedupeWindow", "dedupeWindow goes with idempotency ByKey only"},
		"a window of 0":                      {[]edit{set("spec.dedupeWindow", "0s")}, "spec.dedupeWindow", "dedupeWindow is a duration from 1m to 8760h, such as 24h"},
		"a fragment to reconcile with":       {[]edit{set("spec.reconcileURL", "https://host/#a")}, "spec.reconcileURL", "reconcileURL has no fragment"},
		"a password to reconcile with":       {[]edit{set("spec.reconcileURL", "https://user:pw@host/")}, "spec.reconcileURL", "reconcileURL holds no user name or password"},
		"the metadata service to reconcile":  {[]edit{set("spec.reconcileURL", "http://[::ffff:a9fe:a9fe]/")}, "spec.reconcileURL", "name the receiver's host"},
		"a file to reconcile with":           {[]edit{set("spec.reconcileURL", "file:///etc/passwd")}, "spec.reconcileURL", "reconcileURL is an absolute http or https URL"},
		"a rate of 0":                        {[]edit{set("spec.rateLimit.perSecond", 0)}, "spec.rateLimit.perSecond", "greater than or equal to 1"},
		"a burst without a rate":             {[]edit{set("spec.rateLimit.burst", 1)}, "spec.rateLimit.perSecond", "Required value"},
		"nothing in flight for a tenant":     {[]edit{set("spec.maxInFlightPerTenant", 0)}, "spec.maxInFlightPerTenant", "greater than or equal to 1"},
		"minus one worker":                   {workers(map[string]any{"replicas": -1}), "spec.workers.replicas", "greater than or equal to 0"},
		"101 workers":                        {workers(map[string]any{"replicas": 101}), "spec.workers.replicas", "less than or equal to 100"},
		"workers in two ways":                {workers(map[string]any{"replicas": 2, "maxReplicas": 3}), "spec.workers", replicas},
		"a drain time for a fixed number":    {workers(map[string]any{"replicas": 2, "drainWithin": "2m"}), "spec.workers", replicas},
		"the least without the most workers": {workers(map[string]any{"minReplicas": 2}), "spec.workers.maxReplicas", "minReplicas and drainWithin need maxReplicas"},
		"the most below the least workers":   {workers(map[string]any{"minReplicas": 3, "maxReplicas": 2}), "spec.workers.maxReplicas", "maxReplicas must not be less than minReplicas"},
		"a drain time of 0":                  {workers(map[string]any{"maxReplicas": 2, "drainWithin": "0s"}), "spec.workers.drainWithin", "drainWithin is a duration from 10s to 24h, such as 2m"},
		"a worker that does nothing":         {workers(map[string]any{"concurrency": 0}), "spec.workers.concurrency", "greater than or equal to 1"},
		"a worker of 1025 at a time":         {workers(map[string]any{"concurrency": 1025}), "spec.workers.concurrency", "less than or equal to 1024"},
		"memory that is no quantity":         {workers(map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "much"}}}), "spec.workers.resources.limits.memory", "should match"},
		"a name of 64 characters":            {[]edit{set("metadata.name", strings.Repeat("a", 64))}, "metadata", "the name of a ReminderChannel has at most 63 characters"},
	})
	refuse(t, api, goodSMTP, map[string]bad{
		"a relay that deduplicates":       {[]edit{set("spec.idempotency", "ByKey")}, "spec.idempotency", "mail relays do not deduplicate: leave idempotency out or write None"},
		"a window of a relay":             {[]edit{set("spec.dedupeWindow", "24h")}, "spec.dedupeWindow", "dedupeWindow goes with idempotency ByKey only"},
		"a relay to reconcile with":       {[]edit{set("spec.reconcileURL", "https://host/")}, "spec.reconcileURL", "reconcileURL goes with type HTTP only"},
		"port 99999 of a relay":           {[]edit{set("spec.smtp.port", 99999)}, "spec.smtp.port", "less than or equal to 65535"},
		"port 0 of a relay":               {[]edit{set("spec.smtp.port", 0)}, "spec.smtp.port", "greater than or equal to 1"},
		"a URL as a relay":                {[]edit{set("spec.smtp.host", "smtp://host")}, "spec.smtp.host", "should match"},
		"a header in the sender":          {[]edit{set("spec.smtp.from", "a@b\r\nBcc: c")}, "spec.smtp.from", "from is one bare e-mail address"},
		"two senders":                     {[]edit{set("spec.smtp.from", "a@example.com,b@example.com")}, "spec.smtp.from", "from is one bare e-mail address"},
		"a sender with a name":            {[]edit{set("spec.smtp.from", "Ada <ada@example.com>")}, "spec.smtp.from", "from is one bare e-mail address"},
		"a password in the clear":         {[]edit{set("spec.smtp.secretName", "a"), set("spec.smtp.tls", "None")}, "spec.smtp.tls", "tls must be Require when secretName is set"},
		"encryption of another kind":      {[]edit{set("spec.smtp.tls", "STARTTLS")}, "spec.smtp.tls", `supported values: "Require", "Opportunistic", "None"`},
		"a relay that is given 2 minutes": {[]edit{set("spec.smtp.timeout", "2m")}, "spec.smtp.timeout", "timeout is a duration from 1s to 60s, such as 30s"},
	})
	refuse(t, api, goodNATS, map[string]bad{
		"a wildcard for the rest":    {[]edit{set("spec.nats.subject", "billing.>")}, "spec.nats.subject", "subject is tokens with dots between them"},
		"a wildcard for a token":     {[]edit{set("spec.nats.subject", "billing.*.x")}, "spec.nats.subject", "subject is tokens with dots between them"},
		"an empty token":             {[]edit{set("spec.nats.subject", "billing..x")}, "spec.nats.subject", "subject is tokens with dots between them"},
		"a subject with a blank":     {[]edit{set("spec.nats.subject", "billing x")}, "spec.nats.subject", "subject is tokens with dots between them"},
		"a command in the subject":   {[]edit{set("spec.nats.subject", "a\r\nPUB b")}, "spec.nats.subject", "subject is tokens with dots between them"},
		"a subject of the operator":  {[]edit{set("spec.nats.subject", "reminders.0.due.x")}, "spec.nats.subject", "subjects that begin with reminders, $ or _ are reserved"},
		"a subject of the JetStream": {[]edit{set("spec.nats.subject", "$JS.API.STREAM.PURGE.x")}, "spec.nats.subject", "subjects that begin with reminders, $ or _ are reserved"},
	})
}

func refuseHTTP(t *testing.T, api client.Client) {
	const (
		secret   = "put credentials in the Secret that secretName names"
		reserved = "the operator writes this header itself"
		url      = "url is an absolute http or https URL with a host"
		timeout  = "timeout is a duration from 100ms to 60s, such as 10s"
	)
	to := func(url string) []edit { return []edit{set("spec.http.url", url)} }
	header := func(name, value string) []edit {
		return []edit{set("spec.http.headers", []any{map[string]any{"name": name, "value": value}})}
	}
	cases := map[string]bad{
		"no URL":                             {[]edit{set("spec.http", map[string]any{"method": "POST"})}, "spec.http.url", "Required value"},
		"a file":                             {to("file:///etc/passwd"), "spec.http.url", url},
		"a scheme of another kind":           {to("ftp://example.com/"), "spec.http.url", url},
		"no scheme":                          {to("notify.example.com/reminders"), "spec.http.url", url},
		"no host":                            {to("https:///reminders"), "spec.http.url", url},
		"a host that is only a port":         {to("https://:8080/"), "spec.http.url", url},
		"user and password":                  {to("https://user:pw@host/"), "spec.http.url", "url holds no user name or password: put credentials in the Secret"},
		"a user":                             {to("https://user@host/"), "spec.http.url", "url holds no user name or password: put credentials in the Secret"},
		"the metadata service":               {to("http://169.254.169.254/"), "spec.http.url", "name the receiver's host"},
		"the metadata service in disguise":   {to("http://[::ffff:a9fe:a9fe]/"), "spec.http.url", "name the receiver's host"},
		"an address as one number":           {to("http://2130706433/"), "spec.http.url", "name the receiver's host"},
		"an address in hexadecimal":          {to("http://0x7f.1/"), "spec.http.url", "name the receiver's host"},
		"the API server":                     {to("https://kubernetes.default.svc/"), "spec.http.url", "name the receiver's host"},
		"the API server, short":              {to("https://Kubernetes/x"), "spec.http.url", "name the receiver's host"},
		"a fragment":                         {to("https://host/#part"), "spec.http.url", "leave out #"},
		"port 99999":                         {to("https://host:99999/"), "spec.http.url", "the port of url is a number from 1 to 65535"},
		"port 0":                             {to("https://host:0/"), "spec.http.url", "the port of url is a number from 1 to 65535"},
		"a port that is a name":              {to("https://host:http/"), "spec.http.url", url},
		"a URL with a newline":               {to("https://host/\nx"), "spec.http.url", "should match"},
		"a URL of 2049 characters":           {to("https://host/" + strings.Repeat("a", 2036)), "spec.http.url", "may not be more than 2048"},
		"the method GET":                     {[]edit{set("spec.http.method", "GET")}, "spec.http.method", `supported values: "POST", "PUT"`},
		"a timeout of 0":                     {[]edit{set("spec.http.timeout", "0s")}, "spec.http.timeout", timeout},
		"a timeout of 2 minutes":             {[]edit{set("spec.http.timeout", "2m")}, "spec.http.timeout", timeout},
		"success on 404":                     {[]edit{set("spec.http.successCodes", []int{404})}, "spec.http.successCodes[0]", "less than or equal to 299"},
		"success on nothing":                 {[]edit{set("spec.http.successCodes", []int{})}, "spec.http.successCodes", "at least 1 items"},
		"success twice on 200":               {[]edit{set("spec.http.successCodes", []int{200, 200})}, "spec.http.successCodes[1]", "Duplicate value"},
		"a Secret in another namespace":      {[]edit{set("spec.http.secretName", "other/a")}, "spec.http.secretName", "should match"},
		"a header with a blank":              {header("X Team", "a"), "spec.http.headers[0].name", "should match"},
		"a header's value of two lines":      {header("X-Team", "a\r\nHost: b"), "spec.http.headers[0].value", "a value is one line"},
		"a header's value of 2049":           {header("X-Team", strings.Repeat("a", 2049)), "spec.http.headers[0].value", "may not be more than 2048"},
		"a header twice":                     {[]edit{set("spec.http.headers", []any{map[string]any{"name": "X-A", "value": "1"}, map[string]any{"name": "X-A", "value": "2"}})}, "spec.http.headers[1]", "Duplicate value"},
		"a header twice but for the case":    {[]edit{set("spec.http.headers", []any{map[string]any{"name": "X-A", "value": "1"}, map[string]any{"name": "x-a", "value": "2"}})}, "spec.http.headers", "a header is named once"},
		"33 headers":                         {[]edit{set("spec.http.headers", make([]struct{}, 33))}, "spec.http.headers", "must have at most 32 items"},
		"the address of metadata by name":    {to("http://[::ffff:a9fe:a9fe/"), "spec.http.url", url},
		"a URL that begins with white space": {to(" https://host/"), "spec.http.url", url},
	}
	for _, name := range []string{"Authorization", "authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"} {
		cases["credentials in the header "+name] = bad{header(name, "Bearer abc"), "spec.http.headers[0].name", secret}
	}
	for _, name := range []string{
		"Idempotency-Key", "IDEMPOTENCY-KEY", "webhook-id", "Webhook-Signature", "ce-id", "Ce-Type", "Content-Length", "Content-Type",
		"Host", "Transfer-Encoding", "Connection", "traceparent",
	} {
		cases["the reserved header "+name] = bad{header(name, "x"), "spec.http.headers[0].name", reserved}
	}
	refuse(t, api, goodHTTP, cases)
}
