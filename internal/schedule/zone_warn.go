package schedule

import (
	"fmt"
	"strings"
)

// fixedNames are the names of the database that look as if they followed summer time and do not.
var fixedNames = map[string]string{"EST": "America/New_York", "MST": "America/Denver"}

// zoneWarnings returns what is probably not meant by a zone that is accepted.
func zoneWarnings(name string) []string {
	if place := fixedNames[name]; place != "" {
		return []string{fmt.Sprintf("%s keeps standard time all year (it is %s): for clocks that change write %s", name, reported(name), place)}
	}
	if sign, hours, ok := etcOffset(name); ok {
		opposite := map[byte]string{'+': "-", '-': "+"}[sign]
		return []string{fmt.Sprintf("%s is UTC%s%s: the sign in these names is the opposite of the usual one", name, opposite, hours)}
	}
	return nil
}

// etcOffset takes apart a name such as Etc/GMT+5.
func etcOffset(name string) (sign byte, hours string, ok bool) {
	rest, ok := strings.CutPrefix(name, "Etc/GMT")
	if !ok || len(rest) < 2 || rest[1:] == "0" {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}
