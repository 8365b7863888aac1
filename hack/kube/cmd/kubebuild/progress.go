package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Compile time goes by the size of the source, and a package costs something
// by itself: about as much as this many bytes of it. The link at the end costs
// about this share of all. Both were measured on a cold build.
const (
	packageCost = 12_000
	linkShare   = 0.06
)

// stalePackages returns the packages that the build must compile, each with
// its share of the work.
func stalePackages(ctx context.Context, in inputs) (map[string]int64, error) {
	const format = "{{if .Stale}}{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles \" \"}}{{end}}"
	cmd := goCommand(ctx, in, "list", "-deps", "-f", format)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w\n%s", in.box, err, problems.String())
	}
	work := map[string]int64{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			work[f[0]] = packageCost + sizeOf(f[1], strings.Fields(f[2]))
		}
	}
	return work, nil
}

// sizeOf sums the sizes of files in a folder.
func sizeOf(dir string, files []string) (n int64) {
	for _, name := range files {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// meter reads what go build -v says: the packages, each as its turn comes, and
// whatever else there is to say.
type meter struct {
	work  map[string]int64 // what was to be compiled at the start
	start time.Time

	mu    sync.Mutex
	part  []byte // of a line
	count int
	done  int64
	other []string
}

// Write takes output of go build -v.
func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.part = append(m.part, p...)
	for {
		line, rest, ok := bytes.Cut(m.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		m.take(string(line))
		m.part = rest
	}
}

func (m *meter) take(line string) {
	if w, ok := m.work[line]; ok {
		m.count++
		m.done += w
		return
	}
	m.other = append(m.other, line)
}

// rest is what the build said besides the names of packages.
func (m *meter) rest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(append(m.other, string(m.part)), "\n")
}

// state describes how far the build is after some time.
func (m *meter) state(elapsed time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var total int64
	for _, w := range m.work {
		total += w
	}
	s := fmt.Sprintf("%d of %d packages, %s", m.count, len(m.work), elapsed.Round(time.Second))
	switch share := (1 - linkShare) * float64(m.done) / float64(max(total, 1)); {
	case m.count == len(m.work):
		return s + ", linking"
	case elapsed < 15*time.Second || share < 0.01:
		return s
	default:
		left := time.Duration(float64(elapsed) * (1 - share) / share)
		return fmt.Sprintf("%s (%.0f %%), about %s left", s, 100*share, roughly(left))
	}
}

// roughly writes an estimate without digits that it does not have.
func roughly(d time.Duration) string {
	if d < time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// printer writes progress: one line that changes on a terminal, a line now and
// then elsewhere.
type printer struct {
	out      io.Writer
	terminal bool
	every    time.Duration
}

func newPrinter(f *os.File) *printer {
	p := &printer{out: f, every: 20 * time.Second}
	if fi, err := f.Stat(); err == nil && fi.Mode()&os.ModeCharDevice != 0 {
		p.terminal, p.every = true, time.Second
	}
	return p
}

// line writes a line that stays.
func (p *printer) line(format string, args ...any) {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	fmt.Fprintf(p.out, format+"\n", args...)
}

// follow shows a meter until stop is called.
func (p *printer) follow(version string, m *meter) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				p.show("Kubernetes " + version + ": " + m.state(time.Since(m.start)))
			}
		}
	}()
	return func() { close(end); <-ended }
}

func (p *printer) show(s string) {
	if p.terminal {
		fmt.Fprint(p.out, "\r"+s+"\x1b[K")
		return
	}
	fmt.Fprintln(p.out, s)
}
