package main

import "syscall"

// dieWithParent has the kernel kill a child when the thread that started it ends,
// so that nothing goes on compiling after this program was killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
