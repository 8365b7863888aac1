package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// canary is the value of an attribute that no error may show.
const canary = "canary-value"

func input() message.Input {
	due := time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC)
	return message.Input{
		Recipient: reminder.Recipient{
			ID: "acct_4821", Address: canary, TimeZone: "Europe/Berlin",
			Attributes: map[string]string{
				"name": "Ada", "first-name": "Ada", "amount": "12", "price": "9.5", "empty": "", "list": "a,b,c", "umlaut": "Grüße",
				"secret": canary, "broken": "a\xffb", "lines": "Hi\r\nBcc: x@evil.example", "encoded": "=?utf-8?q?Hi=0D=0ABcc:_x?=",
			},
		},
		Key:     reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T08:00:00Z", Recipient: "acct_4821", Channel: "billing"},
		DueTime: due, DeadlineTime: due.Add(4 * time.Hour),
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"empty":                                 {"", ""},
		"plain text":                            {"Hello", "Hello"},
		"a closing mark without an opening one": {"a }} b", "a }} b"},
		"single braces":                         {"a { b } c", "a { b } c"},
		"an attribute":                          {"Hello {{ recipient.attributes.name }}!", "Hello Ada!"},
		"no blanks":                             {"{{recipient.attributes.name}}", "Ada"},
		"several, adjacent":                     {"{{ recipient.attributes.name }}{{ recipient.id }}", "Adaacct_4821"},
		"an attribute with a dash, by index":    {`{{ recipient.attributes["first-name"] }}`, "Ada"},
		"an attribute with a dash, in backquotes": {"{{ recipient.attributes.`first-name` }}", "Ada"},
		"an empty attribute is no missing one":    {"[{{ recipient.attributes.empty }}]", "[]"},
		"a default for a missing attribute":       {`{{ recipient.attributes.?nick.orValue("friend") }}`, "friend"},
		"a default that is not needed":            {`{{ recipient.attributes[?"name"].orValue("friend") }}`, "Ada"},
		"a test for an attribute":                 {`{{ has(recipient.attributes.nick) ? recipient.attributes.nick : "friend" }}`, "friend"},
		"the names of the recipient":              {"{{ recipient.id }} {{ recipient.timeZone }}", "acct_4821 Europe/Berlin"},
		"the names of the reminder":               {"{{ reminder.key }} {{ reminder.slot }}", "shop/renewal/2026-11-03T08:00:00Z/acct_4821 2026-11-03T08:00:00Z"},
		"the names of the schedule":               {"{{ schedule.namespace }}/{{ schedule.name }}", "shop/renewal"},
		"times":                                   {"{{ reminder.dueTime }} {{ reminder.deadlineTime }}", "2026-11-03T08:00:00Z 2026-11-03T12:00:00Z"},
		"local time, by strftime's conversions":   {`{{ reminder.dueTime.format("%A %e %B %Y, %R %Z", recipient.timeZone) }}`, "Tuesday  3 November 2026, 09:00 CET"},
		"all conversions":                         {`{{ reminder.dueTime.format("%Y %y %m %B %b %d %e %j %A %a %H %I %M %S %p %Z %z %F %T %R %%") }}`, "2026 26 11 November Nov 03  3 307 Tuesday Tue 08 08 00 00 AM UTC +0000 2026-11-03 08:00:00 08:00 %"},
		"an empty zone is UTC":                    {`{{ reminder.dueTime.format("%R", "") }}`, "08:00"},
		"CEL's own accessors with a zone":         {"{{ reminder.dueTime.getHours(recipient.timeZone) }}", "9"},
		"times have UTC as their zone":            {"{{ reminder.dueTime.getHours() }}", "8"},
		"an integer":                              {"{{ int(recipient.attributes.amount) + 1 }}", "13"},
		"a negative integer":                      {"{{ -9223372036854775808 }}", "-9223372036854775808"},
		"an unsigned integer":                     {"{{ 18446744073709551615u }}", "18446744073709551615"},
		"a double":                                {"{{ double(recipient.attributes.price) * 2.0 }}", "19"},
		"a small double":                          {"{{ 0.1 }}", "0.1"},
		"a large double has no exponent":          {"{{ 123456789012.0 }}", "123456789012"},
		"a huge double has one":                   {"{{ 1e300 }}", "1e+300"},
		"a bool":                                  {`{{ recipient.attributes.name == "Ada" }}`, "true"},
		"a duration":                              {"{{ reminder.deadlineTime - reminder.dueTime }}", "14400s"},
		"an opening mark by an expression":        {`{{ "{{" }}`, "{{"},
		"a closing mark in a string":              {`{{ "}}" }}{{ '}}' }}`, "}}}}"},
		"a closing mark in a triple quote":        {"{{ \"\"\"a \" }}\n\"\"\" }}{{ '''}}''' }}", "a \" }}\n}}"},
		"an escaped quote":                        {`{{ "\"}}" + '\'}}' }}`, `"}}'}}`},
		"a raw string ends at its quote":          {`{{ r"\" }}{{ R'\' }}`, `\\`},
		"a variable that ends in r is no prefix":  {`{{ ["ab"].map(r, r + "\"}}")[0] }}`, `ab"}}`},
		"a map literal before the closing mark":   {`{{ {"a": "b"}["a"] }}{{ {"a": "b"}.a}}{{ size({"a": "b"})}}`, "bb1"},
		"a comment":                               {"{{ recipient.id // it's the id\n}}{{ 1 // don't }}", "acct_48211"},
		"an expression over lines":                {"{{\n  recipient.id\n}}", "acct_4821"},
		"trim, case":                              {`{{ "  Ab ".trim().lowerAscii() + "é b".upperAscii() }}`, "abé B"},
		"replace":                                 {`{{ recipient.attributes.list.replace(",", "; ") }}`, "a; b; c"},
		"split and join":                          {`{{ recipient.attributes.list.split(",").map(x, x + x).join("-") }}{{ ["a", "b"].join() }}`, "aa-bb-ccab"},
		"indexOf and substring count characters":  {`{{ "Grüße".indexOf("ß") }}{{ "Grüße".indexOf("x") }}{{ "Grüße".substring(2, 4) }}{{ "Grüße".substring(4) }}`, "3-1üße"},
		"attributes are a map":                    {`{{ recipient.attributes.exists(k, k == "name") }} {{ size(recipient.attributes) > 2 }}`, "true true"},
		"an attribute's other script":             {"{{ recipient.attributes.umlaut }}", "Grüße"},
		"markup is text":                          {"<b>{{ '<script>' }}</b>", "<b><script></b>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm, err := message.Compile(c.template)
			if err != nil {
				t.Fatalf("compile: %v", err)
			}
			got, err := tm.Render(input())
			if err != nil {
				t.Fatalf("render: %v", err)
			}
			if got != c.want {
				t.Errorf("rendered %q, want %q", got, c.want)
			}
		})
	}
}

const known = "; known are recipient.id, recipient.timeZone, recipient.attributes.<name>, reminder.key, reminder.slot, reminder.dueTime, reminder.deadlineTime, schedule.name, schedule.namespace"

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"an unclosed expression":           {"Hi\n there {{ recipient.id", `line 2, column 8: {{ is not closed by }}; to print {{ write {{ "{{" }}`},
		"an unclosed expression, nearly":   {"{{ recipient.id }", `line 1, column 1: {{ is not closed by }}; to print {{ write {{ "{{" }}`},
		"an unclosed string":               {`Grüße {{ "a }} b`, "line 1, column 7: {{ opens an expression in which a string literal is not closed"},
		"a string over two lines":          {"{{ 'a\nb' }}", "line 1, column 1: {{ opens an expression in which a string literal is not closed"},
		"an unclosed brace":                {`{{ {"a": 1 }}`, `line 1, column 1: {{ is not closed by }}; to print {{ write {{ "{{" }}`},
		"an empty expression":              {"{{ }}", `line 1, column 1: the expression is empty; to print {{ write {{ "{{" }}`},
		"an unknown name":                  {"{{ nope }}", "line 1, column 4: {{ nope }}: unknown name nope" + known},
		"an unknown field of a known name": {"{{ recipient.name }}", "line 1, column 4: {{ recipient.name }}: unknown name recipient.name" + known},
		"the recipient's address":          {"{{ recipient.address }}", "line 1, column 4: {{ recipient.address }}: unknown name recipient.address" + known},
		"the attempt":                      {"{{ reminder.attempt }}", "line 1, column 4: {{ reminder.attempt }}: unknown name reminder.attempt" + known},
		"an unknown name on line 3":        {"a\n  {{ 1 +\n   nope }}", "line 3, column 4: {{ 1 + nope }}: unknown name nope" + known},
		"a Go template":                    {"{{ .Name }}", "line 1, column 5: {{ .Name }}: unknown name Name" + known},
		"a wrong type":                     {`{{ 1 + "a" }}`, `line 1, column 6: {{ 1 + "a" }}: found no matching overload for '_+_' applied to '(int, string)'`},
		"an attribute as a number":         {"{{ recipient.attributes.n + 1 }}", "line 1, column 27: {{ recipient.attributes.n + 1 }}: found no matching overload for '_+_' applied to '(string, int)'"},
		"a map as text":                    {"{{ recipient.attributes }}", "line 1, column 3: {{ recipient.attributes }}: yields map(string, string), which has no text; yield a string, number, bool, timestamp or duration"},
		"a list as text":                   {`{{ "a".split("") }}`, `line 1, column 3: {{ "a".split("") }}: yields list(string), which has no text; yield a string, number, bool, timestamp or duration`},
		"an optional as text":              {"{{ recipient.attributes.?nick }}", "line 1, column 3: {{ recipient.attributes.?nick }}: yields optional_type(string), which has no text; yield a string, number, bool, timestamp or duration"},
		"null as text":                     {"{{ null }}", "line 1, column 3: {{ null }}: yields null, which has no text; yield a string, number, bool, timestamp or duration"},
		"a list in a list":                 {"{{ size([[1]]) }}", "line 1, column 3: {{ size([[1]]) }}: holds a list or map inside another, which messages do not need and whose cost cannot be bounded"},
		"an optional list":                 {"{{ optional.of([1]).optMap(a, a + a).hasValue() }}", "line 1, column 3: {{ optional.of([1]).optMap(a, a + a).hasValue() }}: holds a list or map inside another, which messages do not need and whose cost cannot be bounded"},
		"an object":                        {"{{ google.protobuf.Int32Value{value: 1} }}", "line 1, column 3: {{ google.protobuf.Int32Value{value: 1} }}: builds an object; only lists and maps can be built"},
		"a value of unknown type":          {"{{ size([google.protobuf.Value{}]) }}", "line 1, column 3: {{ size([google.protobuf.Value{}]) }}: holds a value whose type is not known; give it one"},
		"a regular expression":             {`{{ "a".matches("(a*)*") }}`, `line 1, column 15: {{ "a".matches("(a*)*") }}: undeclared reference to 'matches' (in container '')`},
		"a bad time":                       {`{{ timestamp("tomorrow") }}`, `line 1, column 14: {{ timestamp("tomorrow") }}: invalid timestamp argument`},
		"invalid UTF-8":                    {"a\n b\xff", "line 2, column 3: the template is not valid UTF-8"},
		"an expression of 5,000":           {"{{ '" + strings.Repeat("x", 5000) + "' }}", ""},
		"a template of 64 KiB and a byte":  {strings.Repeat("x", message.MaxSource+1), "line 1, column 1: the template has 65537 bytes; the limit is 65536"},
		"257 expressions":                  {strings.Repeat("{{ 1 }}", 257), "line 1, column 1795: {{ 1 }}: is one expression too many; the limit is 256"},
		"a nest of brackets":               {"{{ " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + " }}", ""},
		"a nest of calls":                  {"{{ " + strings.Repeat("-(", 300) + "1" + strings.Repeat(")", 300) + " }}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := message.Compile(c.template)
			if err == nil {
				t.Fatal("compiled")
			}
			if c.want != "" && err.Error() != c.want {
				t.Errorf("error is\n%s, want\n%s", err, c.want)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"a missing attribute":                    {"Hi {{ recipient.attributes.nick }}", `line 1, column 6: {{ recipient.attributes.nick }}: the recipient has no attribute nick; give it one, or a default: recipient.attributes[?"nick"].orValue("…")`},
		"a missing attribute named by another":   {"{{ recipient.attributes[recipient.attributes.secret] }}", "line 1, column 3: {{ recipient.attributes[recipient.attributes.secret] }}: the recipient lacks an attribute that the expression asks for"},
		"text as a number":                       {"{{ int(recipient.attributes.secret) }}", "line 1, column 3: {{ int(recipient.attributes.secret) }}: cannot be evaluated for this recipient; a conversion of an attribute may have failed"},
		"text as a time":                         {"{{ timestamp(recipient.attributes.secret) }}", "line 1, column 3: {{ timestamp(recipient.attributes.secret) }}: cannot be evaluated for this recipient; a conversion of an attribute may have failed"},
		"text as a zone":                         {"{{ reminder.dueTime.getHours(recipient.attributes.secret) }}", "line 1, column 3: {{ reminder.dueTime.getHours(recipient.attributes.secret) }}: cannot be evaluated for this recipient; a conversion of an attribute may have failed"},
		"an unknown zone":                        {`{{ reminder.dueTime.format("%R", recipient.attributes.secret) }}`, `line 1, column 3: {{ reminder.dueTime.format("%R", recipient.attributes.secret) }}: format: unknown time zone`},
		"a zone that is a path":                  {`{{ reminder.dueTime.format("%R", "../../etc/passwd") }}`, `line 1, column 3: {{ reminder.dueTime.format("%R", "../../etc/passwd") }}: format: unknown time zone`},
		"the machine's zone":                     {`{{ reminder.dueTime.format("%R", "Local") }}`, `line 1, column 3: {{ reminder.dueTime.format("%R", "Local") }}: format: unknown time zone`},
		"an unknown conversion":                  {`{{ reminder.dueTime.format("%Q") }}`, `line 1, column 3: {{ reminder.dueTime.format("%Q") }}: format: unknown conversion; known are %Y %y %m %B %b %d %e %j %A %a %H %I %M %S %p %Z %z %F %T %R %%`},
		"a lone percent sign":                    {`{{ reminder.dueTime.format("100%") }}`, `line 1, column 3: {{ reminder.dueTime.format("100%") }}: format: a lone % ends the layout; write %% for a percent sign`},
		"a division by zero":                     {"{{ 1 / (2 - int(recipient.attributes.amount) / 6) }}", "line 1, column 3: {{ 1 / (2 - int(recipient.attributes.amount) / 6) }}: division by zero"},
		"an overflow":                            {"{{ 9223372036854775807 + int(recipient.attributes.amount) }}", "line 1, column 3: {{ 9223372036854775807 + int(recipient.attributes.amount) }}: integer overflow"},
		"not a number":                           {"{{ 0.0 / 0.0 }}", "line 1, column 3: {{ 0.0 / 0.0 }}: yields nothing that has a text"},
		"infinity":                               {"{{ 1.0 / 0.0 }}", "line 1, column 3: {{ 1.0 / 0.0 }}: yields nothing that has a text"},
		"an attribute that is not valid UTF-8":   {"{{ recipient.attributes.broken }}", "line 1, column 3: {{ recipient.attributes.broken }}: yields what is not valid UTF-8"},
		"a substring out of range":               {`{{ recipient.attributes.secret.substring(0, 99) }}`, `line 1, column 3: {{ recipient.attributes.secret.substring(0, 99) }}: substring is out of range`},
		"an index out of range":                  {`{{ recipient.attributes.list.split(",")[7] }}`, `line 1, column 3: {{ recipient.attributes.list.split(",")[7] }}: index out of bounds`},
		"an optional without value":              {"{{ recipient.attributes.?nick.value() }}", "line 1, column 3: {{ recipient.attributes.?nick.value() }}: optional.none() dereference"},
		"a map's key that is an attribute's":     {`{{ {"a": 1}[recipient.attributes.secret] }}`, `line 1, column 3: {{ {"a": 1}[recipient.attributes.secret] }}: the recipient lacks an attribute that the expression asks for`},
		"an attribute that only looks like text": {`{{ recipient.attributes["<no value>"] }}`, `line 1, column 3: {{ recipient.attributes["<no value>"] }}: the recipient has no attribute <no value>; give it one, or a default: recipient.attributes[?"<no value>"].orValue("…")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm, err := message.Compile(c.template)
			if err != nil {
				t.Fatalf("compile: %v", err)
			}
			got, err := tm.Render(input())
			if err == nil {
				t.Fatalf("rendered %q", got)
			}
			if err.Error() != c.want {
				t.Errorf("error is\n%s, want\n%s", err, c.want)
			}
			if strings.Contains(err.Error(), canary) || got != "" {
				t.Errorf("the error, or the text beside it, shows a value: %v, %q", err, got)
			}
		})
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ subject, want string }{
		"text":                          {"Your plan, {{ recipient.attributes.umlaut }}", ""},
		"empty":                         {"", ""},
		"a line break in the template":  {"Hi\nthere", "spec.message.subject: line 1, column 1: the subject holds a line break or another control character"},
		"a line break in an attribute":  {"Hi {{ recipient.attributes.lines }}", "spec.message.subject: line 1, column 6: {{ recipient.attributes.lines }}: the subject holds a line break or another control character"},
		"a line break by an escape":     {`{{ "a\r\nBcc: b" }}`, `spec.message.subject: line 1, column 3: {{ "a\r\nBcc: b" }}: the subject holds a line break or another control character`},
		"a NUL":                         {`{{ "\x00" }}`, `spec.message.subject: line 1, column 3: {{ "\x00" }}: the subject holds a line break or another control character`},
		"a C1 control":                  {`{{ "\u0085" }}`, `spec.message.subject: line 1, column 3: {{ "\u0085" }}: the subject holds a line break or another control character`},
		"a Unicode line separator":      {`{{ "\u2028" }}`, `spec.message.subject: line 1, column 3: {{ "\u2028" }}: the subject holds a line break or another control character`},
		"a line break in an expression": {"{{ recipient.id +\n 'a' }}", ""},
		"an encoded word":               {"{{ recipient.attributes.encoded }}", "spec.message.subject: line 1, column 3: {{ recipient.attributes.encoded }}: the subject holds an encoded word (=?…?=), which mail programs decode; write the text itself"},
		"an encoded word in two parts":  {`=?utf-8?q?Hi=0D{{ "=0A?=" }}`, "spec.message.subject: line 1, column 1: the subject holds an encoded word (=?…?=), which mail programs decode; write the text itself"},
		"999 characters":                {strings.Repeat("x", 999), "spec.message.subject: line 1, column 1: the rendered text is longer than 998 bytes"},
		"an unknown name":               {"{{ nope }}", "spec.message.subject: line 1, column 4: {{ nope }}: unknown name nope" + known},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := message.CompileMessage(c.subject, "body")
			if err == nil {
				_, _, err = m.Render(input())
			}
			if got := text(err); got != c.want {
				t.Errorf("error is\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestBodyErrorsNameTheField(t *testing.T) {
	t.Parallel()
	_, err := message.CompileMessage("s", "{{ nope }}")
	if want := "spec.message.body: line 1, column 4: {{ nope }}: unknown name nope" + known; text(err) != want {
		t.Errorf("compile error is %v, want %s", err, want)
	}
	m, err := message.CompileMessage("s", "{{ recipient.attributes.nick }}")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = m.Render(input()); !strings.HasPrefix(text(err), "spec.message.body: line 1, column 3: ") {
		t.Errorf("render error is %v", err)
	}
	if subject, body, err := mustCompile(t, "s {{ recipient.id }}", "a\r\n{{ recipient.attributes.lines }}").Render(input()); err != nil || subject != "s acct_4821" || body != "a\r\nHi\r\nBcc: x@evil.example" {
		t.Errorf("a body may have many lines: %q, %q, %v", subject, body, err)
	}
}

func mustCompile(t *testing.T, subject, body string) *message.Message {
	t.Helper()
	m, err := message.CompileMessage(subject, body)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
