// Command chart renders what people install, the Helm chart and the kustomize
// tree, and fails where the result is not what the API server would accept: a
// template error, a value that the schema should have refused, a field that the
// kind does not have.
//
// It needs no cluster and no helm or kustomize on the machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	chart := flag.String("chart", "charts/reminder-operator", "folder of the chart")
	tree := flag.String("kustomize", "config/default", "folder of the kustomization")
	print := flag.String("print", "", "print the objects of one case instead of checking all")
	flag.Parse()
	if err := run(*chart, *tree, *print); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(chart, tree, print string) error {
	var failures []error
	for _, c := range cases {
		if print != "" && c.name != print {
			continue
		}
		objects, err := c.check(chart)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.name, err))
			continue
		}
		report(c.name, objects, print != "")
	}
	if print != "" && print != "kustomize" {
		return errors.Join(failures...)
	}
	objects, err := kustomize(tree)
	if err != nil {
		return errors.Join(append(failures, fmt.Errorf("kustomize: %w", err))...)
	}
	report("kustomize", objects, print != "")
	return errors.Join(failures...)
}

func report(name string, objects []object, print bool) {
	if !print {
		fmt.Printf("%-28s objects: %d\n", name, len(objects))
		return
	}
	for _, o := range objects {
		fmt.Printf("---\n%s\n", o.text)
	}
}
