//go:build !linux

package main

import "syscall"

// dieWithParent has no means on this system: an interrupted build still ends
// its children, one that was killed does not.
func dieWithParent() *syscall.SysProcAttr { return nil }
