package cluster

import (
	"runtime"
	"sync"
)

// forker returns a function that runs f on one thread that lives as long as
// this process. The kernel ties the death signal of a child to the thread that
// started it, and the Go runtime ends threads as it likes: a child that an
// ordinary goroutine started could die at any time.
var forker = sync.OnceValue(func() func(f func()) {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range calls {
			f()
		}
	}()
	return func(f func()) {
		done := make(chan struct{})
		calls <- func() { defer close(done); f() }
		<-done
	}
})
