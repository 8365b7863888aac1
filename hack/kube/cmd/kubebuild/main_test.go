package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeGo stands for the go command: a build notes that it began, waits for the
// file "go" to appear and writes its result.
const fakeGo = `#!/bin/sh
case $1 in
list) printf 'example.com/a\t/nowhere\ta.go\n' ;;
build)
	echo began >>"$FAKE/builds"
	echo $$ >"$FAKE/pid"
	echo example.com/a >&2
	until [ -e "$FAKE/go" ]; do sleep 0.02; done
	[ -e "$FAKE/broken" ] && { echo 'a.go:1: no such thing' >&2; exit 1; }
	while [ "$1" != -o ]; do shift; done
	echo '#!/bin/sh' >"$2" ;;
esac
`

// TestMain lets the test binary play kubebuild.
func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILD_TEST_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// world is a folder with a fake go command and a cache.
type world struct{ dir string }

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(w.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "bin", "go"), []byte(fakeGo), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// touch makes a file, for the fake go command to see.
func (w world) touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w world) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(w.dir, name)) // empty as long as there is none
	return string(data)
}

// command is a run of kubebuild in the module's folder.
func (w world) command(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "KUBEBUILD_TEST_MAIN=1", "KUBEBUILDER_ASSETS=", "FAKE="+w.dir,
		"REMINDER_KUBE_CACHE="+filepath.Join(w.dir, "cache"), "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func (w world) waitForBuild(t *testing.T) {
	t.Helper()
	for deadline := time.After(time.Minute); w.read("pid") == ""; {
		select {
		case <-deadline:
			t.Fatal("no build began")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// results are the finished folders in the cache.
func (w world) results(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, "cache", "kubebox-v*", "bin", "kubectl"))
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	for _, f := range found {
		if !strings.Contains(f, ".partial") {
			done = append(done, filepath.Dir(f))
		}
	}
	return done
}

func TestTwoRunsBuildOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var outputs [2]bytes.Buffer
	var wg sync.WaitGroup
	for i := range outputs {
		cmd := w.command(t)
		cmd.Stdout = &outputs[i]
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	w.waitForBuild(t)
	w.touch(t, "go")
	wg.Wait()
	if got := w.read("builds"); got != "began\n" {
		t.Errorf("the builds were %q, want one", got)
	}
	for i := range outputs {
		if got, want := outputs[i].String(), w.results(t)[0]+"\n"; got != want {
			t.Errorf("run %d printed %q, want %q", i, got, want)
		}
	}
}

func TestAKilledBuildLeavesNoResultAndNoProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.waitForBuild(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := w.results(t); len(got) != 0 {
		t.Errorf("it left %q", got)
	}
	w.waitGone(t)
	w.touch(t, "go")
	if err := w.command(t).Run(); err != nil {
		t.Fatal(err)
	}
	if got := w.results(t); len(got) != 1 {
		t.Errorf("the next run made %q, want one result", got)
	}
}

// waitGone waits until the fake go command has ended.
func (w world) waitGone(t *testing.T) {
	t.Helper()
	stat := filepath.Join("/proc", strings.TrimSpace(w.read("pid")), "stat")
	for deadline := time.After(time.Minute); ; {
		data, err := os.ReadFile(stat)
		if err != nil || bytes.Contains(data, []byte(") Z ")) {
			return
		}
		select {
		case <-deadline:
			t.Fatal("the build goes on after its parent was killed")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestABrokenBuildSaysWhatTheCompilerSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.touch(t, "go")
	w.touch(t, "broken")
	out, err := w.command(t).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a.go:1: no such thing") {
		t.Errorf("it ended with %v and said %q", err, out)
	}
}

func TestAssetsAreUsedWhenComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		w.touch(t, name)
	}
	out, err := w.command(t, "KUBEBUILDER_ASSETS="+w.dir).Output()
	if err != nil || string(out) != w.dir+"\n" {
		t.Errorf("it printed %q and ended with %v, want %s", out, err, w.dir)
	}
}

func TestTheHashFollowsTheInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\nrequire (\n\tk8s.io/kubernetes v1.2.3 // pinned\n)\n")
	write("go.sum", "")
	first, err := readInputs(dir, "kubebox")
	if err != nil {
		t.Fatal(err)
	}
	if want := "-X k8s.io/component-base/version.gitMinor=2"; !strings.HasSuffix(first.ldflags(), want) {
		t.Errorf("the flags are %q, want them to end with %q", first.ldflags(), want)
	}
	write("go.sum", "changed")
	second, err := readInputs(dir, "kubebox")
	if err != nil {
		t.Fatal(err)
	}
	if first.folder() == second.folder() {
		t.Errorf("both are %s", first.folder())
	}
}

func TestTheMeterEstimates(t *testing.T) {
	t.Parallel()
	m := &meter{work: map[string]int64{"a": 100, "b": 100}}
	for _, step := range []struct{ said, want string }{
		{"go: downloading x\n", "0 of 2 packages, 2m0s"},
		{"a\n", "1 of 2 packages, 2m0s (47 %), about 2 min left"},
		{"b\n", "2 of 2 packages, 2m0s, linking"},
	} {
		if _, err := m.Write([]byte(step.said)); err != nil {
			t.Fatal(err)
		}
		if got := m.state(2 * time.Minute); got != step.want {
			t.Errorf("after %q it says %q, want %q", step.said, got, step.want)
		}
	}
}
