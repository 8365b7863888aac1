package message

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// nest is a comprehension over list, inside itself, depth times.
func nest(list string, depth int, innermost string) string {
	if depth == 0 {
		return innermost
	}
	return list + ".all(v" + strings.Repeat("x", depth) + ", " + nest(list, depth-1, innermost) + ")"
}

func largest() Input {
	value := strings.Repeat("x,", (MaxAttributes-512)/2)
	return Input{Recipient: reminder.Recipient{Attributes: map[string]string{
		"big": value, "csv": strings.Repeat("x,", 199) + "x",
	}}}
}

// What a template can make a worker do is bounded whatever the estimate has let
// through: these compile without a limit and must stop all the same.
func TestRenderingIsBounded(t *testing.T) {
	t.Parallel()
	const csv, big = `recipient.attributes.csv.split(",")`, `recipient.attributes.big`
	const bigs = big + `.split(",")`
	for name, template := range map[string]string{
		"200^4 steps":                           "{{ " + nest(csv, 4, "true") + " }}",
		"200^4 steps over a literal":            "{{ " + nest("["+strings.Repeat("1,", 199)+"1]", 4, "true") + " }}",
		"a long list squared":                   "{{ " + nest(bigs, 2, "true") + " }}",
		"counting a long text again and again":  "{{ " + nest(csv, 2, "size("+big+") > 0") + " }}",
		"searching a long text":                 "{{ " + nest(csv, 2, big+`.indexOf("y") < 0`) + " }}",
		"comparing a long text":                 "{{ " + nest(csv, 2, big+" == "+big) + " }}",
		"comparing long lists":                  "{{ " + nest(csv, 2, bigs+" == "+bigs) + " }}",
		"looking in a long list":                "{{ " + nest(csv, 2, `"y" in `+bigs+" || true") + " }}",
		"comparing the attributes":              "{{ " + nest(csv, 2, "recipient.attributes == recipient.attributes") + " }}",
		"a zone looked up again and again":      "{{ " + nest(csv, 2, `reminder.dueTime.getHours("Europe/Berlin") >= 0`) + " }}",
		"a zone that does not exist":            "{{ " + nest(csv, 2, `reminder.dueTime.format("%R", "No/Zone") == ""`) + " }}",
		"a text doubled again and again":        "{{ optional.of(" + big + ")" + strings.Repeat(".optMap(v, v + v)", 30) + ".hasValue() }}",
		"the longest text in every character":   "{{ " + big + `.replace("x", ` + big + ") }}",
		"the longest text between characters":   "{{ " + big + `.replace("", ` + big + ") }}",
		"the longest text as often as possible": "{{ " + bigs + ".map(v, " + big + ").join() }}",
		"the longest text as separator":         "{{ " + bigs + ".join(" + big + ") }}",
		"256 long texts":                        strings.Repeat("{{ "+big+" }}", MaxExpressions),
		"256 costly expressions":                strings.Repeat("{{ "+nest(csv, 2, "true")+" }}", MaxExpressions),
		"256 half costly expressions":           strings.Repeat("{{ "+nest(csv+".map(v, v)", 1, csv+".size() > 0")+" }}", MaxExpressions),
		"a million bytes of bytes":              "{{ size(" + strings.Repeat("bytes("+big+") + ", 20) + "bytes('')) }}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm, err := compile(template, rules{maxOutput: MaxOutput}, math.MaxUint64)
			if err != nil {
				t.Fatalf("compile: %v", err)
			}
			took, err := fastest(tm, largest())
			if err == nil {
				t.Fatal("rendered")
			}
			if strings.Contains(err.Error(), "attributes have more than") {
				t.Errorf("stopped by the size of the fixture, not by the cost: %v", err)
			}
			if took > limit {
				t.Errorf("took %s, want less than %s", took, limit)
			}
		})
	}
}

// fastest is the best of some renderings, since others use the machine too.
func fastest(tm *Template, in Input) (best time.Duration, err error) {
	best = math.MaxInt64
	for try := 0; try < 5 && best > limit; try++ {
		start := time.Now()
		_, err = tm.Render(in)
		best = min(best, time.Since(start))
	}
	return best, err
}

func TestEstimatesAreBounded(t *testing.T) {
	t.Parallel()
	const csv = `recipient.attributes.csv.split(",")`
	for name, c := range map[string]struct {
		expression string
		want       bool
	}{
		"200^4 steps over attributes": {nest(csv, 4, "true"), false},
		"200^4 steps over a literal":  {nest("["+strings.Repeat("1,", 199)+"1]", 4, "true"), false},
		"one loop over a list":        {csv + `.map(v, v.trim()).join(", ")`, true},
		"one loop over attributes":    {`recipient.attributes.map(k, k + "=" + recipient.attributes[k]).join("; ")`, true},
		"two nested loops":            {nest(csv, 2, "true"), true},
	} {
		_, err := Compile("{{ " + c.expression + " }}")
		if (err == nil) != c.want {
			t.Errorf("%s: error is %v", name, err)
		}
		var fault *Error
		if err != nil && (!errors.As(err, &fault) || !strings.HasPrefix(fault.Reason, "costs too much: estimated at up to ")) {
			t.Errorf("%s: error is %v, want the cost", name, err)
		}
	}
}

func TestAttributesAreBounded(t *testing.T) {
	t.Parallel()
	tm, err := Compile("text")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Recipient: reminder.Recipient{Attributes: map[string]string{"a": strings.Repeat("x", MaxAttributes)}}}
	if _, err := tm.Render(in); err == nil {
		t.Error("rendered for attributes of more than MaxAttributes")
	}
}
