//go:build !linux

package main

import "syscall"

// childAttr gives a child a process group of its own, so that its whole tree
// can be ended.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
