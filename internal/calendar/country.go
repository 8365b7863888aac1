package calendar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rickar/cal/v2"
)

// DataVersion names the release of the holiday data, for status and version output. Holidays that a government moves
// come with a new release; until then explicit dates add them.
func DataVersion() string { return "rickar/cal " + dataRelease }

// dataRelease is the version of the library in go.mod; a test compares the two.
const dataRelease = "v2.1.26"

// Countries returns the codes of the countries whose holidays are known, in order.
func Countries() []string { return slices.Sorted(maps.Keys(countries())) }

// Regions returns the codes of the regions of a country whose holidays are known, in order.
func Regions(country string) []string {
	var codes []string
	for region := range countries()[country].regions {
		codes = append(codes, country+"-"+region)
	}
	slices.Sort(codes)
	return codes
}

const dateHint = "give explicit dates in holidays, or an iCalendar file in iCalendar"

// publicHolidays returns the holidays of a country and of one of its regions, for the years that count.
func publicHolidays(country, region string) ([]Holiday, *FieldError) {
	if country == "" && region == "" {
		return nil, nil
	}
	known, ok := countries()[country]
	switch {
	case country == "":
		return nil, fault("region", region, "a region needs its country", "set country: "+clip(strings.SplitN(region, "-", 2)[0]))
	case !ok:
		return nil, refuseCountry(country)
	case region == "" && known.national == nil:
		return nil, fault("country", country, country+" has holidays by region only", "set region to "+oneOf(Regions(country)))
	}
	all := known.national
	if region != "" {
		code, found := strings.CutPrefix(region, country+"-")
		regional, ok := known.regions[code]
		switch {
		case !found:
			return nil, fault("region", region, fmt.Sprintf("region %q is not one of %s", clip(region), country), "write "+country+"- and the region's code")
		case len(known.regions) == 0:
			return nil, fault("region", region, "the holidays of "+country+" are known for the whole country only", "leave region out, and "+dateHint)
		case !ok:
			return nil, fault("region", region, fmt.Sprintf("the holidays of region %q are not known", clip(region)), "write "+oneOf(Regions(country)))
		}
		all = slices.Concat(all, regional)
	}
	return observed(all), nil
}

// refuseCountry says what to do about a country that the data lacks.
func refuseCountry(country string) *FieldError {
	if upper := strings.ToUpper(country); upper != country && countries()[upper].any() {
		return fault("country", country, "a country is written in capitals", "write "+upper)
	}
	if country == "UK" {
		return fault("country", country, "the code of the United Kingdom is GB", "write GB")
	}
	return fault("country", country, fmt.Sprintf("the holidays of %q are not known here", clip(country)), dateHint)
}

func oneOf(codes []string) string {
	last := len(codes) - 1
	return strings.Join(codes[:last], ", ") + " or " + codes[last]
}

// observed works out the days off of all years. Where a holiday is observed on another day, that is the day off; the day
// itself is named too if it is a Saturday or Sunday, for calendars with another weekend.
func observed(holidays []*cal.Holiday) []Holiday {
	var all []Holiday
	for _, h := range holidays {
		for year := FirstYear - 1; year <= LastYear+1; year++ {
			actual, off, ok := days(h, year)
			if !ok {
				continue
			}
			if off == actual {
				all = append(all, Holiday{off, h.Name})
				continue
			}
			all = append(all, Holiday{off, h.Name + " (observed)"})
			if weekday := actual.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
				all = append(all, Holiday{actual, h.Name})
			}
		}
	}
	return all
}

// days returns the day of a holiday and the day on which it is observed. It is cal.Holiday.Calc on dates: the library
// computes with midnights of the machine's zone, and where a zone skips one, a day is a day early.
func days(h *cal.Holiday, year int) (actual, off Date, ok bool) {
	if h.Func == nil || h.StartYear > 0 && year < h.StartYear || h.EndYear > 0 && year > h.EndYear || slices.Contains(h.Except, year) {
		return 0, 0, false
	}
	midnight := h.Func(h, year)
	if midnight.IsZero() {
		return 0, 0, false
	}
	actual = DateOf(midnight.Add(12*time.Hour)) + Date(h.CalcOffset)
	for _, alternative := range h.Observed {
		if alternative.Day == actual.Weekday() {
			return actual, actual + Date(alternative.Offset), true
		}
	}
	return actual, actual, true
}
