// Command kubebox is the control plane of a test cluster in one multi-call
// binary: etcd, kube-apiserver and kubectl of the versions pinned in go.mod.
// The name it is called by (a symlink) selects the program; when it is called
// as kubebox, the first argument does.
//
// It may hold nothing of its own: each program is upstream's, unchanged. The
// programs of a node belong in a main of their own, so that those who only
// need an API server do not wait for a kubelet to compile.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // the API server validates time zones, also on a machine without zone files

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info on /metrics
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// programs maps the name of each program to its main.
var programs = map[string]func(){
	"etcd":           func() { etcdmain.Main(os.Args) },
	"kube-apiserver": func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kubectl":        runKubectl,
}

func main() {
	name := filepath.Base(os.Args[0])
	if name == "kubebox" && len(os.Args) > 1 {
		name, os.Args = os.Args[1], os.Args[1:]
	}
	run, ok := programs[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: kubebox etcd|kube-apiserver|kubectl [arguments]")
		os.Exit(2)
	}
	run()
}

func runKubectl() {
	// Upstream's main does the same: verbosity must be known before the flags are parsed.
	if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
