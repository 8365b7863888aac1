package message_test

import (
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

const nasty = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;`

func inputOf(attributes map[string]string) message.Input {
	return message.Input{Recipient: reminder.Recipient{ID: "acct_1", Attributes: attributes, Active: true}, Key: reminder.Key{Namespace: "shop", Schedule: "renewal", Slot: "2026-11-03T08:00:00Z", Recipient: "acct_1", Channel: "mail"}}
}

func TestValuesAreEscapedWhereTheyStand(t *testing.T) {
	t.Parallel()
	const name = "{{ recipient.attributes.v }}"
	tests := map[string]struct{ source, value, want string }{
		"element text":         {"<p>Hello " + name + "</p>", nasty, "<p>Hello &lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;</p>"},
		"no HTML at all":       {"Hello " + name, "<b>", "Hello &lt;b&gt;"},
		"a title":              {"<title>" + name + "</title>", "</title><script>", "<title>&lt;/title&gt;&lt;script&gt;</title>"},
		"a double quoted attr": {`<p title="` + name + `">`, `x" onclick="alert(1)`, `<p title="x&#34; onclick=&#34;alert(1)">`},
		"a single quoted attr": {`<p title='` + name + `'>`, `x' onclick='alert(1)`, `<p title='x&#39; onclick=&#39;alert(1)'>`},
		"a whole URL":          {`<a href="` + name + `">x</a>`, "https://a.example/?q=1&r=2", `<a href="https://a.example/?q=1&amp;r=2">x</a>`},
		"a mailto":             {`<a href="` + name + `">x</a>`, "mailto:a@b.example", `<a href="mailto:a@b.example">x</a>`},
		"a path":               {`<a href="https://a.example/` + name + `/x">x</a>`, `a b"><i>`, `<a href="https://a.example/a%20b%22%3e%3ci%3e/x">x</a>`},
		"a query":              {`<a href="https://a.example/?q=` + name + `">x</a>`, "a&b=c d", `<a href="https://a.example/?q=a%26b%3dc%20d">x</a>`},
		"less-than by itself":  {"<" + name + ">", "script", "&lt;script>"},
		"braces as a value":    {`<p>{{ "{{" }}` + name + `}}</p>`, "x", "<p>{{x}}</p>"},
		"what looks like ours": {"<p>{{ '(' }}index . 0)" + name + "</p>", "x", "<p>(index . 0)x</p>"},
		"a template's action":  {"<p>" + name + "</p>", "{{ . }}{{define \"html\"}}", "<p>{{ . }}{{define &#34;html&#34;}}</p>"},
		"a comment beside it":  {"<!-- x --><p>" + name + "</p>", "<", "<p>&lt;</p>"},
		"the author's own":     {"<style>p { color: red }</style><p onclick=\"x()\">" + name, "<", "<style>p { color: red }</style><p onclick=\"x()\">&lt;"},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h, err := message.CompileHTML(tt.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Render(inputOf(map[string]string{"v": tt.value}))
			if err != nil || got != tt.want {
				t.Errorf("%s\n%v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestPlacesWithoutASafeEscapingAreRefused(t *testing.T) {
	t.Parallel()
	const name = "{{ recipient.attributes.v }}"
	for what, source := range map[string]string{
		"a script":               "<script>x = " + name + "</script>",
		"a string in a script":   `<script>x = "` + name + `"</script>`,
		"JSON in a script":       `<script type="application/json">` + name + `</script>`,
		"a template literal":     "<script>x = `" + name + "`</script>",
		"a style":                "<style>p { color: " + name + " }</style>",
		"a style attribute":      `<p style="color: ` + name + `">`,
		"an event's attribute":   `<p onclick="x(` + name + `)">`,
		"an unquoted attribute":  `<p title=` + name + `>`,
		"a part of one":          `<p title=a` + name + `>`,
		"an attribute's name":    `<p ` + name + `="x">`,
		"a whole attribute":      `<p ` + name + `>`,
		"a part of a name":       `<p data-` + name + `="x">`,
		"a tag's name":           `<x` + name + `>`,
		"a comment":              "<!-- " + name + " -->",
		"an image set":           `<img srcset="` + name + `">`,
		"a document in it":       `<iframe srcdoc="` + name + `"></iframe>`,
		"a scheme in two halves": `<a href="java` + name + `">x</a>`,
		"two values and a word":  `<a href="` + name + `script` + name + `">x</a>`,
		"an unclosed tag":        "<p>" + name + "</p><a href=",
		"an unclosed comment":    "<p>" + name + "</p><!-- ",
		"an unclosed script":     "<script>x()",
		"a strange comment":      "<!-- --!><script><!-- -->" + name + "</script>",
		"a short comment":        "<!--><script>" + name + "</script> -->",
		"a NUL":                  "<p>\x00(index . 0)\x00" + name,
		"an unclosed expression": "<p>{{ recipient.id",
		"an unknown name":        "<p>{{ recipient.name }}",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h, err := message.CompileHTML(source)
			if err == nil {
				got, _ := h.Render(inputOf(map[string]string{"v": nasty}))
				t.Errorf("compiles to %q", got)
			} else if strings.Contains(err.Error(), "index .") || strings.Contains(err.Error(), "_html_") {
				t.Errorf("speaks of our own: %v", err)
			}
		})
	}
}

func TestURLsWithAnotherSchemeAreNoMessage(t *testing.T) {
	t.Parallel()
	h, err := message.CompileHTML(`<a href="{{ recipient.attributes.v }}">x</a>`)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"javascript:alert(1)", " javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "vbscript:x", "java\tscript:x", "//evil.example", "x", "", "ftp://x"} {
		if got, err := h.Render(inputOf(map[string]string{"v": value})); err == nil || strings.Contains(err.Error(), "evil") {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
}

func TestLimitsOfHTML(t *testing.T) {
	t.Parallel()
	h, err := message.CompileHTML("<p>{{ recipient.attributes.v }}</p>")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Render(inputOf(map[string]string{"v": strings.Repeat("<", 20_000)})); err == nil || !strings.Contains(err.Error(), "longer than 65536 bytes") {
		t.Errorf("escaped it is too long: %v", err)
	}
	if _, err := h.Render(inputOf(nil)); err == nil || !strings.Contains(err.Error(), "no attribute v") {
		t.Errorf("a missing attribute: %v", err)
	}
	if _, err := message.CompileHTML(strings.Repeat("a", 65<<10)); err == nil {
		t.Error("a long template compiles")
	}
}

func TestAddressesForUnsubscribing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, value, want string }{ // want empty: refused
		"https":                     {"https://a.example/u?t={{ recipient.attributes.v }}", "x y&z=\r\nBcc: q", "https://a.example/u?t=x%20y%26z%3D%0D%0ABcc%3A%20q"},
		"mailto":                    {"mailto:leave@a.example?subject={{ recipient.attributes.v }}", "a/b", "mailto:leave@a.example?subject=a%2Fb"},
		"a mailbox by value":        {"mailto:{{ recipient.attributes.v }}@a.example", "u1", "mailto:u1@a.example"},
		"a whole one":               {"{{ recipient.attributes.v }}", "https://a.example/u/1?x=%20", "https://a.example/u/1?x=%20"},
		"http":                      {"http://a.example/{{ recipient.attributes.v }}", "x", ""},
		"another scheme by value":   {"{{ recipient.attributes.v }}", "javascript:x", ""},
		"a header by value":         {"{{ recipient.attributes.v }}", "https://a.example/>\r\nBcc: x", ""},
		"a bracket by value":        {"{{ recipient.attributes.v }}", "https://a.example/>,<https://b.example", ""},
		"a password":                {"https://u:p@a.example/{{ recipient.attributes.v }}", "x", ""},
		"no host":                   {"https://", "x", ""},
		"no mailbox":                {"mailto:x", "x", ""},
		"a relative one":            {"/u", "x", ""},
		"a blank":                   {"https://a.example/a b", "x", ""},
		"a bracket":                 {"https://a.example/{{ recipient.attributes.v }}>", "x", ""},
		"not ASCII":                 {"https://bücher.example/", "x", ""},
		"a long value":              {"https://a.example/{{ recipient.attributes.v }}", strings.Repeat("x", 900), ""},
		"an unknown name":           {"https://a.example/{{ recipient.name }}", "x", ""},
		"nothing for the recipient": {"https://a.example/{{ recipient.attributes.w }}", "x", ""},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			u, err := message.CompileUnsubscribe(tt.source)
			got := ""
			if err == nil {
				got, err = u.Render(inputOf(map[string]string{"v": tt.value}))
			}
			if got != tt.want || (err == nil) != (tt.want != "") || err != nil && strings.Contains(err.Error(), "Bcc") {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestAllPartsOfAMessage(t *testing.T) {
	t.Parallel()
	p, err := message.CompileParts(message.Source{Subject: "S {{ recipient.id }}", Body: "B {{ recipient.id }}", HTML: "<p>{{ recipient.id }}</p>", UnsubscribeURL: "https://a.example/{{ recipient.id }}"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Render(inputOf(nil))
	if want := (message.Rendered{Subject: "S acct_1", Body: "B acct_1", HTML: "<p>acct_1</p>", UnsubscribeURL: "https://a.example/acct_1"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for field, s := range map[string]message.Source{
		"spec.message.html": {Body: "B", HTML: "<p title={{ recipient.id }}>"}, "spec.message.unsubscribeURL": {Body: "B", UnsubscribeURL: "ftp://x"}, "spec.message.body": {Body: "{{"},
	} {
		if _, err := message.CompileParts(s); err == nil || !strings.HasPrefix(err.Error(), field+": line 1, column ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Whatever the value is, it adds no tag, no attribute and no scheme.
func FuzzHTMLValues(f *testing.F) {
	h, err := message.CompileHTML(`<p title="{{ recipient.attributes.v }}">{{ recipient.attributes.v }}</p><a href='https://a.example/{{ recipient.attributes.v }}?q={{ recipient.attributes.v }}'>x</a>`)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(nasty)
	f.Add("javascript:alert(1)")
	f.Add("\x00'\"`<>=")
	f.Fuzz(func(t *testing.T, value string) {
		got, err := h.Render(inputOf(map[string]string{"v": value}))
		if err != nil {
			return
		}
		for mark, want := range map[string]int{"<": 4, "\"": 2, "'": 2} {
			if n := strings.Count(got, mark); n != want {
				t.Errorf("%d times %s in %q", n, mark, got)
			}
		}
	})
}
