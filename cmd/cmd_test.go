package cmd_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reminder-operator/reminder-operator/cmd"
)

// run executes a command line that must fail, and answers what it says.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := cmd.Run(args, &out); code != 1 {
		t.Fatalf("exit code %d of %v, want 1; it says: %s", code, args, out.String())
	}
	return out.String()
}

func TestMistakesOnTheCommandLineNameTheFlagAndTheRemedy(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "nats.creds")
	if err := os.Mkdir(secret, 0o700); err != nil { // a folder cannot be read as a file, also not by root
		t.Fatal(err)
	}
	controller := []string{"controller", "--namespace=reminders-system", "--nats-url=nats://127.0.0.1:1"}
	worker := []string{"worker", "--namespace=shop", "--channel=mail", "--nats-url=nats://127.0.0.1:1"}
	cases := map[string]struct {
		args []string
		more []string
		want []string
	}{
		"an unknown command":                        {nil, []string{"contoller"}, []string{`unknown command "contoller"`}},
		"an unknown flag":                           {controller, []string{"--lookahead=5m"}, []string{"unknown flag: --lookahead", "reminder-operator controller --help"}},
		"an unknown short flag":                     {worker, []string{"-x"}, []string{"unknown shorthand flag", "reminder-operator worker --help"}},
		"a positional argument":                     {controller, []string{"now"}, []string{`"now"`}},
		"5 as a duration":                           {controller, []string{"--look-ahead=5"}, []string{`"--look-ahead"`, `"5"`, "5s or 5m"}},
		"a duration in words":                       {controller, []string{"--look-ahead=soon"}, []string{`"--look-ahead"`, `"soon"`, "such as 30s, 15m or 168h"}},
		"a number in words":                         {controller, []string{"--nats-replicas=three"}, []string{`"--nats-replicas"`, "controller --help"}},
		"no namespace":                              {[]string{"controller", "--nats-url=nats://127.0.0.1:1", "--namespace="}, nil, []string{"--namespace", "POD_NAMESPACE"}},
		"an empty NATS URL":                         {controller, []string{"--nats-url="}, []string{"--nats-url", "nats://nats:4222"}},
		"a NATS URL that is none":                   {controller, []string{"--nats-url=nats://%"}, []string{"--nats-url", "nats://nats:4222"}},
		"a NATS URL of another scheme":              {controller, []string{"--nats-url=https://nats.example.com"}, []string{"--nats-url", "nats://nats:4222"}},
		"credentials that are not there":            {controller, []string{"--nats-credentials=/nowhere/nats.creds"}, []string{"--nats-credentials", "/nowhere/nats.creds", "no such file"}},
		"credentials that cannot be read":           {controller, []string{"--nats-credentials=" + secret}, []string{"--nats-credentials", secret}},
		"a look-ahead below a minute":               {controller, []string{"--look-ahead=30s"}, []string{"--look-ahead is 30s", "1m to 24h"}},
		"a look-ahead above a day":                  {controller, []string{"--look-ahead=25h"}, []string{"--look-ahead is 25h0m0s", "1m to 24h"}},
		"a retention below an hour":                 {controller, []string{"--retention=59m"}, []string{"--retention is 59m0s", "1h"}},
		"a retention below twice the look-ahead":    {controller, []string{"--look-ahead=12h", "--retention=23h"}, []string{"--retention is 23h0m0s", "twice --look-ahead"}},
		"a status interval below a second":          {controller, []string{"--status-interval=999ms"}, []string{"--status-interval is 999ms", "1s"}},
		"no replica":                                {controller, []string{"--nats-replicas=0"}, []string{"--nats-replicas is 0", "1 to 5"}},
		"six replicas":                              {controller, []string{"--nats-replicas=6"}, []string{"--nats-replicas is 6", "1 to 5"}},
		"a sweep that never pauses":                 {controller, []string{"--sweep-every=0s"}, []string{"--sweep-every is 0s", "1s"}},
		"a sweep that pauses less than no time":     {controller, []string{"--sweep-every=-1s"}, []string{"--sweep-every is -1s", "1s"}},
		"a sweep without grace":                     {controller, []string{"--sweep-grace=0s"}, []string{"--sweep-grace is 0s", "1s"}},
		"orphans looked for without a pause":        {controller, []string{"--orphans-every=0s"}, []string{"--orphans-every is 0s", "1s"}},
		"no patience with deletions":                {controller, []string{"--cleanup-patience=0s"}, []string{"--cleanup-patience is 0s", "1s to 1h"}},
		"endless patience with deletions":           {controller, []string{"--cleanup-patience=2h"}, []string{"--cleanup-patience is 2h0m0s", "1s to 1h"}},
		"no image of workers":                       {controller, []string{"--worker-image="}, []string{"--worker-image"}},
		"a kubeconfig that is not there":            {controller, []string{"--kubeconfig=/nowhere/config"}, []string{"kubeconfig", "/nowhere/config"}},
		"a worker without a channel":                {worker, []string{"--channel="}, []string{"--channel"}},
		"a worker without a namespace":              {worker, []string{"--namespace="}, []string{"--namespace"}},
		"a worker without a name":                   {worker, []string{"--name="}, []string{"--name", "POD_NAME"}},
		"a worker without a NATS URL":               {worker, []string{"--nats-url="}, []string{"--nats-url", "nats://nats:4222"}},
		"a worker without readable credentials":     {worker, []string{"--nats-credentials=/nowhere"}, []string{"--nats-credentials", "/nowhere"}},
		"a worker that keeps nothing":               {worker, []string{"--retention=0s"}, []string{"--retention is 0s", "1h"}},
		"a worker without grace":                    {worker, []string{"--grace=-1s"}, []string{"--grace is -1s"}},
		"a worker without the folder of its Secret": {worker, []string{"--secret-dir=/nowhere"}, []string{"--secret-dir", "/nowhere"}},
		"a range that is an address":                {controller, []string{"--egress-allow=10.0.0.1"}, []string{"--egress-allow", `"10.0.0.1"`, "10.20.0.0/16"}},
		"a range that is a name":                    {controller, []string{"--egress-deny=10.0.0.0/8,cluster"}, []string{"--egress-deny", `"cluster"`}},
		"a range with bits behind its length":       {controller, []string{"--egress-allow=10.1.0.0/8"}, []string{"--egress-allow", "write 10.0.0.0/8"}},
		"a worker's range that is none":             {worker, []string{"--egress-allow=10.0.0.0/8", "--egress-allow=x"}, []string{"--egress-allow", `"x"`}},
		"a worker's denied range that is none":      {worker, []string{"--egress-deny=::ffff:10.0.0.0/104"}, []string{"--egress-deny", "IPv4"}},
		"a broker without a folder":                 {[]string{"broker"}, nil, []string{"--store-dir"}},
		"a broker on no port":                       {[]string{"broker", "--store-dir=x"}, []string{"--port=99999"}, []string{"--port is 99999", "1 to 65535"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, append(append([]string{}, c.args...), c.more...)...)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("it says %q, want %q in it", got, want)
				}
			}
		})
	}
}

// What the flags allow at most and at least passes, and fails later, where there
// is no cluster.
func TestLimitsOfFlagsAreAllowed(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"the defaults": nil,
		"the least":    {"--look-ahead=1m", "--retention=1h", "--status-interval=1s", "--nats-replicas=1", "--sweep-every=1s", "--sweep-grace=1s", "--orphans-every=1s", "--cleanup-patience=1s"},
		"the most":     {"--look-ahead=24h", "--retention=48h", "--nats-replicas=5", "--cleanup-patience=1h"},
		"some ranges":  {"--egress-allow=10.20.0.0/16,fd00:10::/64", "--egress-allow=127.0.0.0/8", "--egress-deny=192.0.128.0/17"},
		"several NATS": {"--nats-url=nats://127.0.0.1:1,tls://127.0.0.1:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"controller", "--namespace=x", "--nats-url=nats://127.0.0.1:1", "--kubeconfig=/nowhere/config"}, more...)
			if got := run(t, args...); !strings.Contains(got, "read the kubeconfig: ") {
				t.Errorf("it says %q, want that the kubeconfig cannot be read", got)
			}
		})
	}
}

func TestBrokerSaysThatItsPortIsInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	got := run(t, "broker", "--host=127.0.0.1", "--port="+port, "--store-dir="+t.TempDir())
	if !strings.Contains(got, "address already in use") || !strings.Contains(got, port) {
		t.Errorf("it says %q, want that the port is in use", got)
	}
}
