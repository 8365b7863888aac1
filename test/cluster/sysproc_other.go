//go:build !linux

package cluster

import "syscall"

// childAttr gives a child a process group of its own, so that its whole tree
// can be killed and a Ctrl-C is ours to handle.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
