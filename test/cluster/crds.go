package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InstallCRDs applies all manifests in a folder and waits until the API server
// serves the custom resources among them.
func (k *Kube) InstallCRDs(ctx context.Context, dir string) error {
	objects, err := readManifests(dir)
	if err != nil {
		return err
	}
	c, err := client.New(k.RESTConfig(), client.Options{})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	for _, o := range objects {
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test-cluster"), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if err := waitEstablished(ctx, c, o); err != nil {
			return fmt.Errorf("wait for CRD %s: %w", o.GetName(), err)
		}
	}
	return nil
}

// readManifests reads the objects of all YAML files in a folder, by the order of their names.
func readManifests(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list manifests: %s has none", dir)
	}
	var objects []*unstructured.Unstructured
	for _, name := range files {
		more, err := readManifest(name)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

func readManifest(name string) (objects []*unstructured.Unstructured, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	defer f.Close()
	documents := yaml.NewYAMLOrJSONDecoder(f, 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", filepath.Base(name), err)
		}
		if o.GetKind() == "" || o.GetKind() == "Kustomization" {
			continue
		}
		objects = append(objects, o)
	}
}

// waitEstablished waits until a CRD is served.
func waitEstablished(ctx context.Context, c client.Client, crd *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(crd.GroupVersionKind())
	var last error
	ok := poll(ctx.Done(), 50*time.Millisecond, func() bool {
		last = c.Get(ctx, client.ObjectKeyFromObject(crd), now)
		return last == nil && hasCondition(now, "Established")
	})
	if !ok {
		return errors.Join(ctx.Err(), last)
	}
	return nil
}

// hasCondition reports whether an object's condition is True.
func hasCondition(o *unstructured.Unstructured, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["type"] == name && m["status"] == "True" {
			return true
		}
	}
	return false
}
