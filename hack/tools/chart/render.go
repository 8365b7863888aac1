package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// render does what `helm install trial -n reminders` does before it talks to a cluster.
func render(folder string, values map[string]any) ([]object, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", folder, err)
	}
	if err := chart.Validate(); err != nil {
		return nil, fmt.Errorf("validate %s: %w", folder, err)
	}
	release := common.ReleaseOptions{Name: "trial", Namespace: "reminders", Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(chart, values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var objects []object
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch {
		case path.Base(name) == "NOTES.txt":
			if strings.TrimSpace(files[name]) == "" {
				return nil, fmt.Errorf("%s is empty", name)
			}
		case path.Ext(name) == ".yaml":
			found, err := parse(name, files[name])
			if err != nil {
				return nil, err
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

// kustomize does what `kubectl kustomize` does.
func kustomize(folder string) ([]object, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return parse(folder, string(text))
}
