package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/schedule"
)

func TestZonesThatAreAccepted(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"Europe/Berlin":        "Europe/Berlin",
		"Asia/Calcutta":        "Asia/Kolkata",
		"Europe/Kiev":          "Europe/Kyiv",
		"US/Pacific":           "America/Los_Angeles",
		"EST5EDT":              "America/New_York",
		"CST6CDT":              "America/Chicago",
		"MST7MDT":              "America/Denver",
		"PST8PDT":              "America/Los_Angeles",
		"EST":                  "America/Panama",
		"MST":                  "America/Phoenix",
		"HST":                  "Pacific/Honolulu",
		"CET":                  "Europe/Brussels",
		"MET":                  "Europe/Brussels",
		"EET":                  "Europe/Athens",
		"WET":                  "Europe/Lisbon",
		"Iceland":              "Atlantic/Reykjavik",
		"Europe/Stockholm":     "Europe/Stockholm",
		"America/Buenos_Aires": "America/Argentina/Buenos_Aires",
		"UTC":                  "UTC",
		"utc":                  "UTC",
		"Utc":                  "UTC",
		"Etc/UTC":              "UTC",
		"Zulu":                 "UTC",
		"Universal":            "UTC",
		"GMT":                  "Etc/GMT",
		"GMT0":                 "Etc/GMT",
		"GMT+0":                "Etc/GMT",
		"Greenwich":            "Etc/GMT",
		"Etc/GMT+5":            "Etc/GMT+5",
	}
	for name, want := range tests {
		t.Run("T15: "+name, func(t *testing.T) {
			t.Parallel()
			zone, got, err := schedule.ResolveZone(name)
			if err != nil || got != want || zone.String() != want {
				t.Errorf("ResolveZone(%q) = %v, %q, %v, want %q", name, zone, got, err, want)
			}
		})
	}
}

func TestZonesThatAreRefused(t *testing.T) {
	t.Parallel()
	none := "write an IANA name such as Europe/Berlin, or UTC"
	tests := map[string]struct{ name, wantReason, wantHint string }{
		"T15: empty":                         {"", "the zone name is empty", none},
		"T15: Local":                         {"Local", "placeholder", none},
		"T15: localtime":                     {"localtime", "placeholder", none},
		"T15: Factory":                       {"Factory", "placeholder", none},
		"T15: posixrules":                    {"posixrules", "placeholder", none},
		"T15: lower case":                    {"asia/kolkata", "no zone", "did you mean Asia/Kolkata?"},
		"T15: upper case":                    {"EUROPE/BERLIN", "no zone", "did you mean Europe/Berlin?"},
		"T15: lower case of a link":          {"asia/calcutta", "no zone", "did you mean Asia/Kolkata?"},
		"T15: an offset of GMT":              {"GMT+2", "an offset", "did you mean Etc/GMT-2?"},
		"T15: an offset of UTC":              {"UTC+02:00", "an offset", "did you mean Etc/GMT-2?"},
		"T15: an offset alone":               {"-03:00", "an offset", "did you mean Etc/GMT+3?"},
		"T15: an offset of ISO":              {"+0530", "an offset", "did you mean Asia/Kolkata?"},
		"T15: no offset at all":              {"UTC+0", "an offset", "did you mean UTC?"},
		"T15: an abbreviation":               {"CEST", "an abbreviation", "did you mean Europe/Berlin?"},
		"T15: an abbreviation of America":    {"PDT", "an abbreviation", "did you mean America/Los_Angeles?"},
		"T15: a leading blank":               {" Europe/Berlin", "blank", "did you mean Europe/Berlin?"},
		"T15: a trailing newline":            {"Europe/Berlin\n", "line break", "did you mean Europe/Berlin?"},
		"T15: a NUL":                         {"Europe/Berlin\x00", "NUL", "did you mean Europe/Berlin?"},
		"T15: a blank":                       {"America/New York", "blank", "did you mean America/New_York?"},
		"T15: a zone that an update removed": {"US/Pacific-New", "no zone", "did you mean America/Los_Angeles?"},
		"a city":                             {"Berlin", "no zone", "did you mean Europe/Berlin?"},
		"a slip of the finger":               {"Europe/Berlim", "no zone", "did you mean Europe/Berlin?"},
		"a path":                             {"../../etc/passwd", "no zone", none},
		"a path of other systems":            {"posix/Europe/Berlin", "no zone", none},
		"a letter of another script":         {"Εurope/Berlin", "character", "did you mean Europe/Berlin?"},
		"invalid UTF-8":                      {"\xff\xfe", "character", none},
		"blanks only":                        {"  ", "blank", none},
		"64 KiB":                             {strings.Repeat("x", 64<<10), "65536 characters", "write an IANA name such as Europe/Berlin"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := schedule.ResolveZone(test.name)
			var refused *schedule.FieldError
			if !errors.As(err, &refused) {
				t.Fatalf("ResolveZone(%q) = %v, want a FieldError", test.name, err)
			}
			if !strings.Contains(refused.Reason, test.wantReason) || refused.Hint != test.wantHint {
				t.Errorf("ResolveZone(%q): %v; want %q and %q", test.name, err, test.wantReason, test.wantHint)
			}
			if refused.Field != "timeZone" || len(refused.Value) > 300 {
				t.Errorf("field %q, value %q", refused.Field, refused.Value)
			}
		})
	}
}

func TestEveryNameThatIsListedResolvesToItsOwnCanonicalName(t *testing.T) {
	t.Parallel()
	names := schedule.ZoneNames()
	if len(names) < 590 {
		t.Fatalf("%d zone names", len(names))
	}
	for _, name := range names {
		_, canonical, err := schedule.ResolveZone(name)
		if err != nil {
			t.Errorf("ResolveZone(%q): %v", name, err)
			continue
		}
		if _, again, err := schedule.ResolveZone(canonical); err != nil || again != canonical {
			t.Errorf("ResolveZone(%q) = %q, whose own is %q, %v", name, canonical, again, err)
		}
	}
}

// T16: a machine's own zone and zone files have no say.
func TestTheMachinesZoneDoesNotMatter(t *testing.T) {
	t.Setenv("TZ", "America/New_York")
	t.Setenv("ZONEINFO", "/nowhere")
	s := compile(t, schedule.Spec{Cron: "0 9 * * *"})
	o, _ := s.Next(time.Date(2026, 11, 30, 10, 0, 0, 0, time.FixedZone("", 5*3600)))
	if got := o.Due.Format(time.RFC3339); got != "2026-11-30T09:00:00Z" || s.Zone() != "UTC" {
		t.Errorf("got %s in %s", got, s.Zone())
	}
}
