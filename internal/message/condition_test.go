package message_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/internal/message"
)

func TestCondition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   bool
	}{
		"an attribute that is as wanted":     {"recipient.attributes.name == 'Ada'", true},
		"one that is not":                    {"recipient.attributes.name == 'Bob'", false},
		"a missing one with a default":       {"recipient.attributes[?'status'].orValue('active') == 'active'", true},
		"a test for an attribute":            {"has(recipient.attributes.status)", false},
		"a missing one that does not matter": {"true || recipient.attributes.status == 'x'", true},
		"times of the reminder":              {"reminder.dueTime < reminder.deadlineTime", true},
		"a local time":                       {"reminder.dueTime.getHours(recipient.timeZone) == 9", true},
		"names of the schedule":              {"schedule.namespace + '/' + schedule.name == 'shop/renewal'", true},
		"a number":                           {"double(recipient.attributes.price) > 10.0", false},
		"more than one line":                 {"recipient.attributes.name == 'Ada' // of course\n&& true", true},
		"a list":                             {"recipient.attributes.list.split(',').exists(x, x == 'b')", true},
		"braces of a template are a map":     {"{'a': true}.a", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := message.CompileCondition(c.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := compiled.Holds(input())
			if err != nil || got != c.want {
				t.Errorf("got %t, %v, want %t", got, err, c.want)
			}
		})
	}
}

func TestConditionsThatDoNotCompile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"nothing":             {"", "line 1, column 1: "},
		"a text":              {"recipient.id", "line 1, column 1: yields string; yield true or false, such as recipient.attributes.status == 'active'"},
		"a number":            {"1 + 1", "yields int; yield true or false"},
		"an optional":         {"recipient.attributes[?'a']", "yields optional"},
		"an unknown name":     {"recipient.status == 'active'", "line 1, column 1: unknown name recipient.status; known are recipient.id"},
		"another one":         {"true &&\n customer.id == ''", "line 2, column 2: unknown name customer.id; known are recipient.id"},
		"one = too few":       {"recipient.id = 'a'", "line 1, column 14: "},
		"the address":         {"recipient.address == ''", "address"},
		"the time of day":     {"now() > reminder.dueTime", "now"},
		"regular expressions": {"recipient.id.matches('a+')", "matches"},
		"two types":           {"recipient.id == 1", "line 1, column 14: "},
		"too long":            {"true" + strings.Repeat(" ", 2045), "has 2049 characters; the limit is 2048"},
		"too costly": {
			"'a'.split('').all(a, 'a'.split('').all(b, 'a'.split('').all(c, 'a'.split('').all(d, true))))", "costs too much",
		},
		"a template": {"{{ recipient.id == 'a' }}", "line 1, column"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := message.CompileCondition(c.source)
			fault, ok := errors.AsType[*message.Error](err)
			if !ok || fault.Line < 1 || fault.Column < 1 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// An error is no answer: neither true nor false, and it shows no value.
func TestConditionsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	many := input()
	many.Recipient.Attributes = map[string]string{"name": strings.Repeat("x", message.MaxAttributes)}
	csv := input()
	csv.Recipient.Attributes = map[string]string{"csv": strings.Repeat("x,", 30_000)}
	for name, c := range map[string]struct {
		source string
		in     message.Input
		want   string
	}{
		"a missing attribute":  {"recipient.attributes.status == 'active'", input(), "the recipient has no attribute status; give it one, or a default"},
		"one that is computed": {"recipient.attributes[recipient.attributes.secret] == ''", input(), "lacks an attribute"},
		"no number":            {"int(recipient.attributes.secret) > 1", input(), "a conversion of an attribute may have failed"},
		"a division by zero":   {"1 / (int(recipient.attributes.amount) - 12) > 0", input(), "division by zero"},
		"too many attributes":  {"true", many, "the recipient's attributes have more than 65536 bytes"},
		"too costly":           {"recipient.attributes.csv.split(',').all(a, a != 'y')", csv, "costs too much for this recipient"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := message.CompileCondition(c.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := compiled.Holds(c.in)
			fault, ok := errors.AsType[*message.Error](err)
			if got || !ok || fault.Line != 1 || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("got %t, %v, want %q", got, err, c.want)
			}
		})
	}
}

func FuzzCondition(f *testing.F) {
	for _, seed := range []string{
		"true", "recipient.attributes.name == 'Ada'", "recipient.attributes[?'a'].orValue('') == ''", "1/0 == 1", "{{ true }}", "'", "\xff", "has(recipient.attributes.x)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		compiled, err := message.CompileCondition(source)
		if err == nil {
			_, err = compiled.Holds(input())
		}
		if fault, ok := errors.AsType[*message.Error](err); err != nil && (!ok || fault.Line < 1 || fault.Column < 1) {
			t.Errorf("error is a %T: %v", err, err)
		}
		if err != nil && strings.Contains(err.Error(), canary) && !strings.Contains(source, canary) {
			t.Errorf("error shows a value: %v", err)
		}
	})
}
