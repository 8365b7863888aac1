package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// place is a state folder in .dev/ of the checkout. Who works in it holds its
// lock, which the kernel releases when that process ends, however it ends.
type place struct{ dir string }

func placeOf(name string) (place, error) {
	root, err := cluster.RepoRoot()
	if err != nil {
		return place{}, err
	}
	if err := os.MkdirAll(filepath.Join(root, ".dev"), 0o755); err != nil {
		return place{}, fmt.Errorf("make the state folder: %w", err)
	}
	return place{dir: filepath.Join(root, ".dev", name)}, nil
}

// errBusy: another process works in the place.
var errBusy = errors.New("another one is running in this checkout")

// lock takes the lock, or fails with errBusy. Closing the file releases it.
func (p place) lock() (*os.File, error) {
	for range 5 { // busy holds it for a moment
		f, err := p.take(syscall.LOCK_EX)
		if !errors.Is(err, errBusy) {
			return f, err
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil, errBusy
}

// busy tells whether somebody works in the place.
func (p place) busy() bool {
	f, err := p.take(syscall.LOCK_SH)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, errBusy)
}

func (p place) take(how int) (*os.File, error) {
	f, err := os.OpenFile(p.dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errBusy
	}
	return nil, fmt.Errorf("take the lock %s.lock: %w", p.dir, err)
}

// handedOver tells whether this process got the lock from the one that started
// it, and keeps it from its own children.
func (p place) handedOver() bool {
	var got, lock syscall.Stat_t
	if syscall.Fstat(lockFD, &got) != nil || syscall.Stat(p.dir+".lock", &lock) != nil {
		return false
	}
	if got.Dev != lock.Dev || got.Ino != lock.Ino {
		return false
	}
	syscall.CloseOnExec(lockFD)
	return true
}

// begin takes the lock and makes the folder, without what an earlier one left.
func (p place) begin() (unlock func(), err error) {
	f, err := p.lock()
	if err != nil {
		return nil, err
	}
	if err := p.empty(); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

func (p place) empty() error {
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("empty the state folder: %w", err)
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	return nil
}

func (p place) file(name string) string { return filepath.Join(p.dir, name) }

// owner is the process that holds the lock, as far as it has said so.
func (p place) owner() (pid int, known bool) {
	data, err := os.ReadFile(p.dir + ".lock")
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
	return pid, err == nil && pid > 1
}

// setOwner writes the process into the lock that it holds; 0 for nobody.
func setOwner(lock *os.File, pid int) error {
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("write the lock: %w", err)
	}
	if pid == 0 {
		return nil
	}
	if _, err := lock.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0); err != nil {
		return fmt.Errorf("write the lock: %w", err)
	}
	return nil
}
