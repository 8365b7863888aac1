package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// RepoRoot is the folder of the checkout that this package was compiled from,
// found from the working folder upwards (go test runs in the package's folder).
func RepoRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "hack", "kube", "build.sh")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find the checkout: %s is not inside one", dir)
		}
	}
}

// cacheDir is where programs are kept, per user; the same folder as hack/kube's.
func cacheDir() (string, error) {
	dir := os.Getenv("REMINDER_KUBE_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder: %w; set REMINDER_KUBE_CACHE", err)
		}
		dir = filepath.Join(base, "reminder-operator")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return dir, nil
}

// kubeBin remembers the answer of KubeBin.
var kubeBin struct {
	sync.Mutex
	dir string
}

// KubeBin returns the folder that holds etcd, kube-apiserver and kubectl, and
// builds them when this machine does not have them yet: many minutes, with
// progress on log.
func KubeBin(ctx context.Context, log io.Writer) (string, error) {
	kubeBin.Lock()
	defer kubeBin.Unlock()
	if kubeBin.dir != "" {
		return kubeBin.dir, nil
	}
	root, err := RepoRoot()
	if err != nil {
		return "", err
	}
	out, err := output(ctx, log, root, filepath.Join(root, "hack", "kube", "build.sh"))
	if err != nil {
		return "", fmt.Errorf("build the Kubernetes programs: %w", err)
	}
	kubeBin.dir = out
	return out, nil
}

// natsModule is the main package of the server, built at the version of the root go.mod.
const natsModule = "github.com/nats-io/nats-server/v2"

// natsBin returns the path of nats-server and builds it when the cache has none of this version.
func natsBin(ctx context.Context, log io.Writer) (string, error) {
	root, err := RepoRoot()
	if err != nil {
		return "", err
	}
	version, err := output(ctx, log, root, "go", "list", "-m", "-f", "{{.Version}}", natsModule)
	if err != nil {
		return "", fmt.Errorf("find the version of nats-server: %w", err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "nats-server-"+version)
	path := filepath.Join(dir, "nats-server")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(log, "Building nats-server %s\n", version)
	return path, goBuild(ctx, log, root, path, natsModule)
}

// BuildBinary builds the product of this checkout, with the build tags given
// (failpoints, say), and returns the path of the program. It lies in the cache,
// one for each checkout and set of tags.
func BuildBinary(tags ...string) (string, error) {
	return BuildPackage(context.Background(), io.Discard, ".", tags...)
}

// BuildPackage builds a main package of this checkout ("./hack/demo", say) like
// [BuildBinary], with messages of the compiler on log.
func BuildPackage(ctx context.Context, log io.Writer, pkg string, tags ...string) (string, error) {
	root, err := RepoRoot()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	name := filepath.Base(filepath.Clean(pkg))
	if name == "." {
		name = "reminder-operator"
	}
	sum := sha256.Sum256([]byte(root + "\n" + filepath.Clean(pkg) + "\n" + strings.Join(tags, ",")))
	path := filepath.Join(cache, "bin", hex.EncodeToString(sum[:6]), name)
	return path, goBuild(ctx, log, root, path, "-tags="+strings.Join(tags, ","), pkg)
}

// goBuild runs go build for one result, one at a time over all processes. A
// result that is up to date is left as it is.
func goBuild(ctx context.Context, log io.Writer, root, path string, args ...string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", filepath.Base(path), err)
	}
	unlock, err := lockFile(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return fmt.Errorf("build %s: %w", filepath.Base(path), err)
	}
	defer unlock()
	// The temporary folder beside the result lets go build move it there in one step.
	args = append([]string{"env", "GOTMPDIR=" + dir, "go", "build", "-o", path}, args...)
	if _, err := output(ctx, log, root, args...); err != nil {
		return fmt.Errorf("build %s: %w", filepath.Base(path), err)
	}
	return nil
}

// output runs a command in a folder, with its messages on log, and returns
// what it printed. Like every child it dies with this process.
func output(ctx context.Context, log io.Writer, dir string, args ...string) (string, error) {
	var out, problems bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.SysProcAttr = dir, childAttr()
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(log, &problems)
	var err error
	forker()(func() { err = cmd.Start() })
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) })()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// lockFile takes an advisory lock, waiting for who holds it. The kernel
// releases it when this process ends, however it ends.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	for {
		unlock, err := tryLockFile(name)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s: %w", name, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tryLockFile takes an advisory lock or fails with EWOULDBLOCK.
func tryLockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	return func() { f.Close() }, nil
}
