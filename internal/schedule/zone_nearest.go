package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reminder-operator/reminder-operator/internal/schedule/internal/tzdb"
)

// abbreviations maps what people write instead of a zone to the zone that most of them mean. Those that are names of
// the database as well, such as EST and CET, are accepted before anything is looked up here.
var abbreviations = map[string]string{
	"AEDT": "Australia/Sydney", "AEST": "Australia/Sydney", "AKDT": "America/Anchorage", "AKST": "America/Anchorage",
	"ACST": "Australia/Adelaide", "ACDT": "Australia/Adelaide", "AWST": "Australia/Perth", "ADT": "America/Halifax",
	"AST": "America/Halifax", "BST": "Europe/London", "BRT": "America/Sao_Paulo", "CDT": "America/Chicago",
	"CEST": "Europe/Berlin", "CST": "America/Chicago", "EAT": "Africa/Nairobi", "EDT": "America/New_York",
	"EEST": "Europe/Athens", "HKT": "Asia/Hong_Kong", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "KST": "Asia/Seoul",
	"MDT": "America/Denver", "MESZ": "Europe/Berlin", "MEZ": "Europe/Berlin", "MSK": "Europe/Moscow",
	"NZDT": "Pacific/Auckland", "NZST": "Pacific/Auckland", "PDT": "America/Los_Angeles", "PKT": "Asia/Karachi",
	"PST": "America/Los_Angeles", "SAST": "Africa/Johannesburg", "SGT": "Asia/Singapore", "WAT": "Africa/Lagos",
	"WEST": "Europe/Lisbon", "WIB": "Asia/Jakarta", "Z": "UTC",
}

// nearestZone returns the zone that a refused name most likely means, by its canonical name.
func nearestZone(name string) (string, bool) {
	name = strings.ReplaceAll(strings.TrimFunc(name, notInZone), " ", "_")
	if name == "" || len(name) > maxZone {
		return "", false
	}
	if zone, ok := zoneOfOffset(name); ok {
		return zone, true
	}
	if zone := abbreviations[strings.ToUpper(name)]; zone != "" {
		return zone, true
	}
	best, distance := "", len(name)/4+1
	for _, known := range tzdb.Names() {
		if d := zoneDistance(name, known); d < distance && known != factory {
			best, distance = known, d
		}
	}
	return reported(best), best != ""
}

// reported is the name by which ResolveZone reports a known zone.
func reported(name string) string {
	canonical, _ := tzdb.Canonical(name)
	if canonical == "Etc/UTC" {
		return "UTC"
	}
	return canonical
}

// zoneDistance counts what has to change to make a known name of a written one: nothing for the case of letters, for a
// missing continent, or for something appended to it.
func zoneDistance(written, known string) int {
	written, known = strings.ToLower(written), strings.ToLower(known)
	city := known[strings.LastIndexByte(known, '/')+1:]
	if written == city || strings.HasPrefix(written, known+"-") || strings.HasPrefix(written, known+"/") {
		return 0
	}
	return editDistance(written, known)
}

// editDistance is Levenshtein's: insertions, deletions and replacements of single bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// offsetHours reads an offset such as +02:00, UTC+2, GMT-3 or UTC+05:30, in minutes.
func offsetHours(name string) (minutes int, ok bool) {
	text := strings.ToUpper(name)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "UTC"), "GMT")
	if len(text) < 2 || (text[0] != '+' && text[0] != '-') {
		return 0, false
	}
	hourText, minuteText, _ := strings.Cut(text[1:], ":")
	if len(hourText) == 4 && minuteText == "" {
		hourText, minuteText = hourText[:2], hourText[2:]
	}
	hour, hourOK := number(hourText)
	minute, err := strconv.Atoi("0" + minuteText)
	if !hourOK || err != nil || hour > 14 || minute > 59 {
		return 0, false
	}
	if text[0] == '-' {
		return -hour*60 - minute, true
	}
	return hour*60 + minute, true
}

// offsetPlaces has a zone for each offset that is not whole hours, by minutes.
var offsetPlaces = map[int]string{
	-570: "Pacific/Marquesas", -210: "America/St_Johns", 210: "Asia/Tehran", 270: "Asia/Kabul", 330: "Asia/Kolkata",
	345: "Asia/Kathmandu", 390: "Asia/Yangon", 525: "Australia/Eucla", 570: "Australia/Darwin",
	630: "Australia/Lord_Howe", 765: "Pacific/Chatham",
}

// zoneOfOffset returns a zone that keeps an offset. The names of Etc count the other way round: Etc/GMT-2 is two hours
// ahead of UTC.
func zoneOfOffset(name string) (string, bool) {
	minutes, ok := offsetHours(name)
	switch {
	case !ok:
		return "", false
	case minutes == 0:
		return "UTC", true
	case minutes%60 != 0:
		return offsetPlaces[minutes], offsetPlaces[minutes] != ""
	}
	zone := fmt.Sprintf("Etc/GMT%+d", -minutes/60)
	_, known := tzdb.Canonical(zone)
	return zone, known
}
