package message

import (
	"strconv"
	"strings"
	"time"
)

// conversions of strftime (POSIX) that depend on no locale but C, as layouts of
// package time.
var conversions = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'B': "January", 'b': "Jan", 'd': "02", 'e': "_2", 'A': "Monday", 'a': "Mon",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'Z': "MST", 'z': "-0700", 'F': time.DateOnly, 'T': time.TimeOnly, 'R': "15:04",
}

// strftime formats t, or says what is wrong with the layout.
func strftime(t time.Time, layout string) (out, reason string) {
	var b strings.Builder
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			b.WriteByte(layout[i])
			continue
		}
		i++
		switch {
		case i == len(layout):
			return "", "format: a lone % ends the layout; write %% for a percent sign"
		case layout[i] == '%':
			b.WriteByte('%')
		case layout[i] == 'j':
			b.WriteString(strconv.Itoa(1000 + t.YearDay())[1:])
		case conversions[layout[i]] == "":
			return "", "format: unknown conversion; known are %Y %y %m %B %b %d %e %j %A %a %H %I %M %S %p %Z %z %F %T %R %%"
		default:
			b.WriteString(t.Format(conversions[layout[i]]))
		}
	}
	return b.String(), ""
}
