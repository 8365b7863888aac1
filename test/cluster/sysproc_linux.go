package cluster

import "syscall"

// childAttr gives a child a process group of its own, so that its whole tree
// can be killed and a Ctrl-C is ours to handle, and has the kernel kill it when
// this process ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
