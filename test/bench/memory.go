package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memory is a line of /proc/<pid>/status in bytes.
func memory(pid int, field string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(data)) {
		value, ok := strings.CutPrefix(line, field+":")
		if !ok {
			continue
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
		}
		return kilobytes << 10, nil
	}
	return 0, fmt.Errorf("read the memory of process %d: there is no %s", pid, field)
}
