//go:build !failpoint

package failpoint

// Hit does nothing in this build.
func Hit(string) {}

// HitIn does nothing in this build.
func HitIn(string, string) {}
