package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reminder-operator/reminder-operator/internal/calendar"
)

// Period is a length of calendar time: an ISO 8601 duration of years, months, weeks and days, or a number of business days.
// All parts have the same sign.
type Period struct {
	Years, Months, Weeks, Days, BusinessDays int
}

// ParsePeriod reads a period such as -P3D, P1Y2M, P2W, P0D, or -P3BD for three business days before. A sign stands in
// front of P and counts for all parts; the order is years, months, weeks, days; business days stand alone. The error is
// a *FieldError of the field "offset".
func ParsePeriod(text string) (Period, error) {
	p, f := parsePeriod(text)
	if f != nil {
		return Period{}, f.in("offset", text)
	}
	return p, nil
}

const periodHint = "write a period such as -P3D, P2W, -P1M, or -P3BD for business days"

// parsePeriod reads the parts in their order.
func parsePeriod(text string) (Period, *fault) {
	body, sign, pos := text, 1, 0
	if strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+") {
		if body[0] == '-' {
			sign = -1
		}
		body, pos = body[1:], 1
	}
	if !strings.HasPrefix(body, "P") || len(body) < 2 || len(text) > 20 {
		return Period{}, &fault{pos: -1, reason: fmt.Sprintf("%q is not a period", shown(text)), hint: periodHint}
	}
	if i := strings.IndexByte(body, 'T'); i >= 0 {
		return Period{}, &fault{pos: pos + i, reason: "an offset counts days, not hours", hint: "set the time of day in time; " + periodHint}
	}
	var p Period
	units := []struct {
		name string
		into *int
		most int
	}{{"Y", &p.Years, 99}, {"M", &p.Months, 999}, {"W", &p.Weeks, 999}, {"BD", &p.BusinessDays, calendar.MaxBusinessDays}, {"D", &p.Days, 9999}}
	body, pos = body[1:], pos+1
	for _, unit := range units {
		digits := body[:len(body)-len(strings.TrimLeft(body, "0123456789"))]
		if digits == "" || !strings.HasPrefix(body[len(digits):], unit.name) {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n > unit.most {
			return Period{}, &fault{pos: pos, reason: fmt.Sprintf("%s%s is more than %d%s", shown(digits), unit.name, unit.most, unit.name), hint: periodHint}
		}
		*unit.into = sign * n
		body, pos = body[len(digits)+len(unit.name):], pos+len(digits)+len(unit.name)
	}
	switch {
	case body != "":
		return Period{}, &fault{pos: pos, reason: fmt.Sprintf("%q is not the next part of a period", shown(body)), hint: periodHint}
	case strings.Contains(text, "BD") && (p.Years|p.Months|p.Weeks|p.Days) != 0:
		return Period{}, &fault{pos: -1, reason: "business days are counted alone", hint: "write the business days only, such as -P3BD"}
	}
	return p, nil
}

// String returns the shortest text that ParsePeriod reads as p.
func (p Period) String() string {
	var b strings.Builder
	for _, part := range []struct {
		n    int
		unit string
	}{{p.Years, "Y"}, {p.Months, "M"}, {p.Weeks, "W"}, {p.Days, "D"}, {p.BusinessDays, "BD"}} {
		switch {
		case part.n == 0:
			continue
		case b.Len() > 0:
		case part.n < 0:
			b.WriteString("-P")
		default:
			b.WriteString("P")
		}
		b.WriteString(strconv.Itoa(max(part.n, -part.n)) + part.unit)
	}
	if b.Len() == 0 {
		return "P0D"
	}
	return b.String()
}

var errYears = errors.New("outside the years 1 to 9999")

// addTo adds the period to a date: years and months first, at most to the last day of the month that they lead to; then
// weeks and days; or business days.
func (p Period) addTo(d calendar.Date, days *calendar.Calendar) (calendar.Date, error) {
	if p.BusinessDays != 0 {
		moved, err := days.AddBusinessDays(d, p.BusinessDays)
		if err != nil {
			return 0, err
		}
		return moved, checkYear(moved)
	}
	year, month, day := d.Date()
	months := (year+p.Years)*12 + int(month) - 1 + p.Months
	if months < 12 || months >= 10000*12 {
		return 0, errYears
	}
	year, month = months/12, time.Month(months%12+1)
	moved := calendar.NewDate(year, month, min(day, daysIn(year, month))) + calendar.Date(p.Weeks*7+p.Days)
	return moved, checkYear(moved)
}

func checkYear(d calendar.Date) error {
	if year, _, _ := d.Date(); year < 1 || year > 9999 {
		return errYears
	}
	return nil
}
