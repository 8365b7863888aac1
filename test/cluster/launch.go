package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// launch is how a container runs as a process of this machine.
type launch struct {
	args   []string
	env    []string
	ports  map[string]string // address on this machine, by name and by number of the container port
	mounts map[string]string // folder on this machine, by mountPath
	probe  func(context.Context) bool
}

// podNames is what a container may know of its pod.
type podNames struct{ name, namespace string }

// newLaunch translates a container: its volumes are in the folders of mounts,
// its ports get numbers from freePort.
func newLaunch(c *corev1.Container, pod podNames, mounts map[string]string, freePort func() (int, error)) (*launch, error) {
	if len(c.Command) > 0 {
		return nil, fmt.Errorf("run container %s: it has a command, and only an image's entrypoint can be run here", c.Name)
	}
	l := &launch{mounts: mounts, ports: map[string]string{}}
	for _, p := range c.Ports {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		l.ports[strconv.Itoa(int(p.ContainerPort))] = loopback(port)
		if p.Name != "" {
			l.ports[p.Name] = loopback(port)
		}
	}
	values := map[string]string{}
	for _, e := range c.Env {
		value, err := envValue(e, pod)
		if err != nil {
			return nil, fmt.Errorf("run container %s: %w", c.Name, err)
		}
		values[e.Name] = l.local(expand(value, values))
		l.env = append(l.env, e.Name+"="+values[e.Name])
	}
	for _, a := range c.Args {
		l.args = append(l.args, l.local(expand(a, values)))
	}
	l.probe = l.readiness(c.ReadinessProbe)
	return l, nil
}

// envValue is the value of an environment variable before expansion.
func envValue(e corev1.EnvVar, pod podNames) (string, error) {
	if e.ValueFrom == nil {
		return e.Value, nil
	}
	if f := e.ValueFrom.FieldRef; f != nil {
		switch f.FieldPath {
		case "metadata.name":
			return pod.name, nil
		case "metadata.namespace":
			return pod.namespace, nil
		}
	}
	return "", fmt.Errorf("resolve env %s: only values and the pod's metadata.name and metadata.namespace can be resolved here", e.Name)
}

var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// expand replaces $(NAME) by the value of a known variable, as a kubelet does.
func expand(s string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(s, func(r string) string {
		return cmp.Or(values[r[2:len(r)-1]], r)
	})
}

// listen matches an address to listen on at the end of an argument.
var listen = regexp.MustCompile(`(^|=)(?:0\.0\.0\.0|\[::\]|127\.0\.0\.1|localhost)?:(\d+)$`)

// local rewrites what an argument says of mounts and ports to what they are on this machine.
func (l *launch) local(s string) string {
	s = replacePaths(s, l.mounts)
	m := listen.FindStringSubmatchIndex(s)
	if m == nil {
		return s
	}
	address, ok := l.ports[s[m[4]:m[5]]]
	if !ok {
		return s
	}
	return s[:m[3]] + address
}

// replacePaths replaces each path in s that is, or lies below, a key of folders.
func replacePaths(s string, folders map[string]string) string {
	longestFirst := slices.SortedFunc(maps.Keys(folders), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var out strings.Builder
	for i := 0; i < len(s); {
		from := ""
		if i == 0 || strings.IndexByte(`=,: "'`, s[i-1]) >= 0 { // a path may begin here
			at := slices.IndexFunc(longestFirst, func(path string) bool { return isBelow(s[i:], path) })
			if at >= 0 {
				from = longestFirst[at]
			}
		}
		if from == "" {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(folders[from])
		i += len(from)
	}
	return out.String()
}

// isBelow reports whether s begins with the path, as a whole.
func isBelow(s, path string) bool {
	rest, ok := strings.CutPrefix(s, path)
	return ok && (rest == "" || strings.IndexByte(`/,: "'`, rest[0]) >= 0)
}

// readiness translates a readiness probe. A container without one, or with one
// of another kind, is ready as soon as it runs.
func (l *launch) readiness(p *corev1.Probe) func(context.Context) bool {
	switch {
	case p != nil && p.HTTPGet != nil:
		url := "http://" + l.address(p.HTTPGet.Port.String()) + p.HTTPGet.Path
		return func(ctx context.Context) bool { return httpProbe(ctx, url) }
	case p != nil && p.TCPSocket != nil:
		address := l.address(p.TCPSocket.Port.String())
		return func(ctx context.Context) bool { return tcpProbe(ctx, address) }
	default:
		return func(context.Context) bool { return true }
	}
}

// address is where a container port, named or numbered, is on this machine.
func (l *launch) address(port string) string {
	return cmp.Or(l.ports[port], net.JoinHostPort("127.0.0.1", port))
}

func httpProbe(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode >= 200 && res.StatusCode < 400
}

func tcpProbe(ctx context.Context, address string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	c.Close()
	return true
}
