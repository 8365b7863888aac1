package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Ports are taken below the range from which the kernel gives ports to
// outgoing connections. Otherwise a client that connects again and again to a
// server that is down may be given that server's port for itself, and even
// connect to itself.
const (
	firstPort = 20000
	lastPort  = 32000
)

// reservations holds the locks of the ports that this process has reserved.
var reservations struct {
	sync.Mutex
	unlock []func()
}

// FreePort reserves a TCP port of 127.0.0.1 for as long as this process lives,
// against other callers in this and other processes of the user: a server may
// go down and come back on it.
func FreePort() (int, error) {
	cache, err := cacheDir()
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(cache, "ports")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, fmt.Errorf("reserve a port: %w", err)
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if reserve(dir, port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("reserve a port: none of 127.0.0.1 between %d and %d seems free", firstPort, lastPort)
}

// reserve locks the file of a port when nobody else has and nobody listens there.
func reserve(dir string, port int) bool {
	unlock, err := tryLockFile(filepath.Join(dir, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		unlock()
		return false
	}
	l.Close()
	reservations.Lock()
	defer reservations.Unlock()
	reservations.unlock = append(reservations.unlock, unlock)
	return true
}

// loopback is the address of a port of this machine.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// poll calls done until it is true. The time between calls only paces them.
func poll(expired <-chan struct{}, every time.Duration, done func() bool) bool {
	for !done() {
		select {
		case <-expired:
			return false
		case <-time.After(every):
		}
	}
	return true
}
