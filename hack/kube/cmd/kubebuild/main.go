// Command kubebuild prints the folder that holds the Kubernetes programs which
// tests and the demo start: etcd, kube-apiserver and kubectl. It builds them
// from the versions pinned in go.mod, once per user and machine, into a cache
// outside the checkout:
//
//	${REMINDER_KUBE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/reminder-operator}/kubebox-<version>-<hash of the inputs>/bin
//
// The folder is the only line on stdout; progress and an estimate go to stderr.
// When KUBEBUILDER_ASSETS names a folder that has all three programs, that
// folder is the answer and nothing is built.
//
// Two runs at a time build once: the second waits for the first. A build that
// is interrupted leaves nothing that a later run would mistake for a result.
//
// It may import the standard library only, so that it starts at once, and it
// downloads no finished programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// boxes maps each multi-call main under cmd/ to the programs in it.
var boxes = map[string][]string{
	"kubebox": {"etcd", "kube-apiserver", "kubectl"},
}

func main() {
	// Children die with the thread that started them (see childAttr): let it be the main one.
	runtime.LockOSThread()
	box := flag.String("box", "kubebox", "which main under cmd/ to build")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bin, err := run(withParent(ctx), *box)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubebuild:", err)
		os.Exit(1)
	}
	fmt.Println(bin)
}

// run returns the folder with the programs of box and builds it when there is none.
func run(ctx context.Context, box string) (string, error) {
	programs, ok := boxes[box]
	if !ok {
		return "", fmt.Errorf("find box %q: no such main", box)
	}
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" && hasPrograms(assets, programs) {
		return assets, nil
	}
	in, err := readInputs(".", box)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, in.folder())
	if hasPrograms(filepath.Join(final, "bin"), programs) {
		return filepath.Join(final, "bin"), nil
	}
	unlock, err := lock(ctx, final+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if hasPrograms(filepath.Join(final, "bin"), programs) { // built while we waited
		return filepath.Join(final, "bin"), nil
	}
	return filepath.Join(final, "bin"), install(ctx, in, programs, final)
}

// install builds into a folder beside final and moves it there in one step.
func install(ctx context.Context, in inputs, programs []string, final string) error {
	partial := final + ".partial" // ours alone: we hold the lock
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("remove an interrupted build: %w", err)
	}
	defer os.RemoveAll(partial)
	bin, tmp := filepath.Join(partial, "bin"), filepath.Join(partial, "tmp")
	for _, dir := range []string{bin, tmp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a build folder: %w", err)
		}
	}
	if err := compile(ctx, in, filepath.Join(bin, in.box), tmp); err != nil {
		return err
	}
	for _, name := range programs {
		if err := os.Symlink(in.box, filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("remove the temporary folder: %w", err)
	}
	if err := os.Rename(partial, final); err != nil {
		return fmt.Errorf("move the build into place: %w", err)
	}
	return nil
}

// compile runs go build and follows it on stderr.
func compile(ctx context.Context, in inputs, out, tmp string) error {
	show := newPrinter(os.Stderr)
	show.line("Kubernetes %s: resolving modules and looking for what is built already", in.version)
	work, err := stalePackages(ctx, in)
	if err != nil {
		return err
	}
	cmd := goCommand(ctx, in, "build", "-v", "-o", out)
	cmd.Env = append(cmd.Env, "GOTMPDIR="+tmp)
	m := &meter{work: work, start: time.Now()}
	cmd.Stderr = m
	stop := show.follow(in.version, m)
	err = cmd.Run()
	stop()
	if ctx.Err() != nil {
		return fmt.Errorf("build %s: %w", in.box, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", in.box, err, m.rest())
	}
	show.line("Kubernetes %s: built in %s", in.version, time.Since(m.start).Round(time.Second))
	return nil
}

// goCommand is a go command for the main package of in, with the flags that
// make its answer and its build cache entries those of the real build.
func goCommand(ctx context.Context, in inputs, verb string, args ...string) *exec.Cmd {
	args = append([]string{verb, "-trimpath", "-buildvcs=false", "-ldflags", in.ldflags()}, args...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/"+in.box)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	// The compilers and the linker are its children, in the same group.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.SysProcAttr = childAttr()
	return cmd
}

// withParent returns a context that ends when the process that started this
// one has gone, so that an abandoned build does not go on by itself.
func withParent(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				cancel(fmt.Errorf("the process that asked for it has gone"))
				return
			}
		}
	}()
	return ctx
}

// hasPrograms reports whether dir holds every one of the programs.
func hasPrograms(dir string, programs []string) bool {
	for _, name := range programs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return strings.TrimSpace(dir) != ""
}
