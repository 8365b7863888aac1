package main

import "syscall"

// childAttr gives a child a process group of its own, so that its whole tree
// can be ended, and has the kernel kill it when the thread that started it
// ends, so that nothing goes on compiling after this program was killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
