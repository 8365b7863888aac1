package message_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reminder-operator/reminder-operator/internal/message"
)

func TestTextWithoutExpressionsRendersToItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := strings.ReplaceAll(rapid.String().Draw(t, "text"), "{{", "{ {")
		tm, err := message.Compile(source)
		if err != nil {
			t.Fatalf("compile %q: %v", source, err)
		}
		if got, err := tm.Render(input()); err != nil || got != source {
			t.Fatalf("rendered %q, %v, want %q", got, err, source)
		}
	})
}

func TestAnyTextCanStandInAStringLiteral(t *testing.T) {
	t.Parallel()
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringOf(rapid.RuneFrom([]rune("{}'\"\\/r `\n\ra1"))).Draw(t, "text")
		before := strings.ReplaceAll(rapid.StringOf(rapid.RuneFrom([]rune("}' \"a\n"))).Draw(t, "before"), "{{", "")
		tm, err := message.Compile(before + `{{ "` + quote.Replace(want) + `" }}` + "|")
		if err != nil {
			t.Fatalf("compile: %v", err)
		}
		if got, err := tm.Render(input()); err != nil || got != before+want+"|" {
			t.Fatalf("rendered %q, %v, want %q", got, err, before+want+"|")
		}
	})
}

// Whatever is compiled and rendered: no panic, errors of the promised type at a
// place inside the template, valid and bounded output.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"plain", "Hello {{ recipient.attributes.name }}", `{{ "}}" + '{{' }}`, "{{", "{{ r'\\' }}", "{{ '''}}''' }}", "{{ {'a': 1}.a }}",
		"{{ [1].all(x, x > 0) }}", "{{ recipient.attributes.?nick.orValue('x') }}", `{{ reminder.dueTime.format("%F", recipient.timeZone) }}`,
		"{{ recipient.attributes.list.split(',').map(x, x.trim()).join(';') }}", "{{ 1/0 }}", "{{ a // b\n }}", "\xff", "{{ '\xff' }}", "{{ b'a' }}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, subject := range []bool{false, true} {
			got, err := renderAny(source, subject)
			var fault *message.Error
			switch {
			case err != nil && !errors.As(err, &fault):
				t.Errorf("error is a %T: %v", err, err)
			case err != nil && (fault.Line < 1 || fault.Column < 1 || fault.Line > strings.Count(source, "\n")+1):
				t.Errorf("error is outside the template: %v", err)
			case err != nil && strings.Contains(err.Error(), canary) && !strings.Contains(source, canary):
				t.Errorf("error shows a value: %v", err)
			case !utf8.ValidString(got) || len(got) > message.MaxOutput:
				t.Errorf("rendered %d bytes, valid: %t", len(got), utf8.ValidString(got))
			case subject && strings.ContainsAny(got, "\r\n\x00"):
				t.Errorf("subject has a control character: %q", got)
			}
		}
	})
}

func renderAny(source string, subject bool) (string, error) {
	m, err := message.CompileMessage("", source)
	if subject {
		m, err = message.CompileMessage(source, "")
	}
	if err != nil {
		return "", err
	}
	s, b, err := m.Render(input())
	return s + b, err
}

func TestATemplateIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := mustCompile(t, "{{ recipient.id }}", "Hello {{ recipient.attributes.name }}, {{ reminder.dueTime.format('%F', recipient.timeZone) }}")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if _, body, err := m.Render(input()); err != nil || body != "Hello Ada, 2026-11-03" {
					t.Errorf("rendered %q, %v", body, err)
				}
			}
		})
	}
	group.Wait()
}

const typical = "Hello {{ recipient.attributes.name }},\n\nyour plan renews on {{ reminder.dueTime.format('%d.%m.%Y', recipient.timeZone) }} for " +
	"{{ recipient.attributes.?amount.orValue('0') }} EUR.\n\n{{ schedule.name }}"

func BenchmarkRender(b *testing.B) {
	tm, err := message.Compile(typical)
	if err != nil {
		b.Fatal(err)
	}
	in := input()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tm.Render(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := message.Compile(typical); err != nil {
			b.Fatal(err)
		}
	}
}
