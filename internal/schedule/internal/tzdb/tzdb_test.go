package tzdb

import (
	"testing"
	"time"
)

// Every zone opens, and its list of changes gives the offset that the standard library gives, through the years and
// around each change.
func TestEverySpanAgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if canonical, _ := Canonical(name); canonical != name {
			continue
		}
		zone, err := Load(name)
		if err != nil {
			t.Fatalf("Load(%s): %v", name, err)
		}
		if zone.String() != name {
			t.Errorf("Load(%s) is called %s", name, zone)
		}
		checkSpans(t, zone)
	}
}

func checkSpans(t *testing.T, zone *Zone) {
	t.Helper()
	const step = 31 * 24 * 3600
	for _, years := range [][2]int{{1860, 2110}, {2485, 2530}, {2890, 2905}, {9990, 10000}} {
		end := time.Date(years[1], 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		for at := time.Date(years[0], 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < end; at += step {
			s := zone.Span(at)
			if s.Start > at || s.End <= at {
				t.Fatalf("%s: %v does not hold %d", zone, s, at)
			}
			checkOffset(t, zone, s.Offset, at)
			if s.Start > -distant {
				checkOffset(t, zone, s.Offset, s.Start)
				checkOffset(t, zone, s.Before, s.Start-1)
			}
			for probe := at; years[0] > 2110 && probe < min(s.End, at+12*step); probe += step {
				checkOffset(t, zone, s.Offset, probe)
			}
			if s.End < distant {
				checkOffset(t, zone, s.Offset, s.End-1)
				checkOffset(t, zone, s.After, s.End)
			}
		}
	}
}

func checkOffset(t *testing.T, zone *Zone, got int, at int64) {
	t.Helper()
	moment := time.Unix(at, 0).In(zone.Location)
	if _, want := moment.Zone(); got != want {
		t.Fatalf("%s at %s: offset %d, want %d", zone, moment.UTC(), got, want)
	}
}

func TestEveryLinkLeadsToAZone(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		canonical, _ := Canonical(name)
		if again, ok := Canonical(canonical); !ok || again != canonical {
			t.Errorf("%s links to %s, which is no zone", name, canonical)
		}
		if _, err := Load(name); err != nil {
			t.Errorf("Load(%s): %v", name, err)
		}
	}
}

func TestLoadRefusesAnUnknownName(t *testing.T) {
	t.Parallel()
	if _, err := Load("Mars/Olympus"); err == nil {
		t.Error("Load(Mars/Olympus) succeeded")
	}
}

func BenchmarkSpan(b *testing.B) {
	zone, err := Load("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC).Unix()
	b.ReportAllocs()
	for b.Loop() {
		zone.Span(at)
	}
}

func BenchmarkNewZone(b *testing.B) {
	zone, err := Load("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		newZone(zone.Location)
	}
}
