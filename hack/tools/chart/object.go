package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type object struct {
	metav1.PartialObjectMetadata

	text string
}

func (o object) id() string { return o.Kind + "/" + o.Name }

// kinds are all that we install; another kind is a mistake until it is listed here.
var kinds = map[string]func() any{
	"v1/Namespace":              func() any { return &corev1.Namespace{} },
	"v1/ServiceAccount":         func() any { return &corev1.ServiceAccount{} },
	"v1/Service":                func() any { return &corev1.Service{} },
	"apps/v1/Deployment":        func() any { return &appsv1.Deployment{} },
	rbac + "Role":               func() any { return &rbacv1.Role{} },
	rbac + "RoleBinding":        func() any { return &rbacv1.RoleBinding{} },
	rbac + "ClusterRole":        func() any { return &rbacv1.ClusterRole{} },
	rbac + "ClusterRoleBinding": func() any { return &rbacv1.ClusterRoleBinding{} },
	"apiextensions.k8s.io/v1/CustomResourceDefinition": func() any { return &apiextensionsv1.CustomResourceDefinition{} },
}

const rbac = "rbac.authorization.k8s.io/v1/"

// parse splits a rendered file into objects and reads each as strictly as the
// API server does with field validation.
func parse(name, text string) ([]object, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	var objects []object
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if blank(document) {
			continue
		}
		o := object{text: strings.TrimSpace(string(document))}
		if err := o.read(document); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, o)
	}
}

func (o *object) read(document []byte) error {
	if err := yaml.Unmarshal(document, &o.PartialObjectMetadata); err != nil {
		return err
	}
	if o.Name == "" {
		return fmt.Errorf("an object of kind %q has no name", o.Kind)
	}
	kind, known := kinds[o.APIVersion+"/"+o.Kind]
	if !known {
		return fmt.Errorf("%s: kind %s/%s is not one that we install", o.id(), o.APIVersion, o.Kind)
	}
	if err := yaml.UnmarshalStrict(document, kind()); err != nil {
		return fmt.Errorf("%s: %w", o.id(), err)
	}
	return nil
}

func blank(document []byte) bool {
	for line := range strings.Lines(string(document)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
