package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// inputs is what a build depends on.
type inputs struct {
	box     string // the main under cmd/
	version string // of Kubernetes, from go.mod
	hash    string // over go.mod, go.sum, the main's sources and the build's flags
}

// readInputs reads the inputs of a box from the module in dir.
func readInputs(dir, box string) (inputs, error) {
	in := inputs{box: box}
	files := []string{filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")}
	sources, err := filepath.Glob(filepath.Join(dir, "cmd", box, "*.go")) // sorted
	if err != nil {
		return in, fmt.Errorf("list the sources of %s: %w", box, err)
	}
	sum := sha256.New()
	for _, name := range append(files, sources...) {
		data, err := os.ReadFile(name)
		if err != nil {
			return in, fmt.Errorf("read an input of the build: %w", err)
		}
		if filepath.Base(name) == "go.mod" {
			in.version = requiredVersion(data, "k8s.io/kubernetes")
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(name), len(data), data)
	}
	if in.version == "" {
		return in, errors.New("find the version of k8s.io/kubernetes in go.mod: no such requirement")
	}
	fmt.Fprint(sum, in.ldflags())
	in.hash = hex.EncodeToString(sum.Sum(nil))[:12]
	return in, nil
}

// requiredVersion returns the version at which a go.mod file requires a module.
func requiredVersion(gomod []byte, module string) string {
	lines := bufio.NewScanner(bytes.NewReader(gomod))
	for lines.Scan() {
		f := strings.Fields(strings.TrimPrefix(lines.Text(), "require "))
		if len(f) >= 2 && f[0] == module && strings.HasPrefix(f[1], "v") {
			return f[1]
		}
	}
	return ""
}

// folder is the name of the result in the cache.
func (in inputs) folder() string { return fmt.Sprintf("%s-%s-%s", in.box, in.version, in.hash) }

// ldflags stamps the version. Without it the server reports one that no
// chart's kubeVersion range accepts.
func (in inputs) ldflags() string {
	number := strings.SplitN(strings.TrimPrefix(in.version, "v"), ".", 3)
	const v = " -X k8s.io/component-base/version."
	return "-s -w" + v + "gitVersion=" + in.version + v + "gitMajor=" + number[0] + v + "gitMinor=" + number[1]
}

// cacheDir is where results are kept, per user.
func cacheDir() (string, error) {
	dir := os.Getenv("REMINDER_KUBE_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder: %w; set REMINDER_KUBE_CACHE", err)
		}
		dir = filepath.Join(base, "reminder-operator")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return dir, nil
}

// lock takes the lock of one result, waiting for another build of it. The
// kernel releases it when this process ends, however it ends.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("take the lock %s: %w", name, err)
		}
		if !told {
			fmt.Fprintln(os.Stderr, "Kubernetes: waiting for another build of the same version to end")
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("wait for the lock %s: %w", name, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}
