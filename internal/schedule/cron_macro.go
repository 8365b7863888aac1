package schedule

import (
	"fmt"
	"strings"
)

// expandMacro returns the five fields that a macro stands for.
func expandMacro(fields []token) (string, *fault) {
	macro := fields[0]
	switch name := strings.ToLower(macro.text); {
	case name == "@every":
		return "", macro.fault("@every is not a macro here", "set every instead of cron, such as every: 36h")
	case name == "@reboot":
		return "", macro.fault("@reboot is not a time", "set at for a single time")
	case len(fields) > 1:
		return "", fields[1].fault(fmt.Sprintf("nothing may follow %s", macro.text), "write the macro alone")
	}
	switch strings.ToLower(macro.text) {
	case "@hourly":
		return "0 * * * *", nil
	case "@daily", "@midnight":
		return "0 0 * * *", nil
	case "@weekly":
		return "0 0 * * 0", nil
	case "@monthly":
		return "0 0 1 * *", nil
	case "@yearly", "@annually":
		return "0 0 1 1 *", nil
	default:
		return "", macro.fault(fmt.Sprintf("there is no macro %q", shown(macro.text)), "write @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually")
	}
}
