package api_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/test/cluster"
)

// TestChecklist holds the generated CRDs to what the Kubernetes API conventions ask for.
func TestChecklist(t *testing.T) {
	t.Parallel()
	for _, crd := range generated(t) {
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			t.Parallel()
			names, version := crd.Spec.Names, crd.Spec.Versions[0]
			if crd.Spec.Scope != apiextensionsv1.NamespaceScoped || version.Subresources == nil || version.Subresources.Status == nil {
				t.Error("it is not namespaced with a status subresource")
			}
			if !slices.Equal(names.Categories, []string{"reminders"}) || len(names.ShortNames) != 1 {
				t.Errorf("categories %v, short names %v", names.Categories, names.ShortNames)
			}
			root := version.Schema.OpenAPIV3Schema
			for _, name := range []string{"spec", "status"} {
				property := root.Properties[name]
				checkSchema(t, name, name, &property)
			}
			if _, has := root.Properties["status"].Properties["phase"]; has {
				t.Error("there is a phase")
			}
		})
	}
}

func generated(t *testing.T) (crds []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("there are %d CRDs, error %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			t.Fatal(err)
		}
		crds = append(crds, crd)
	}
	return crds
}

// checkSchema walks a schema. name is the JSON name of the field, empty for the items of a list.
func checkSchema(t *testing.T, path, name string, s *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if name != "" && !strings.HasPrefix(s.Description, name+" ") {
		t.Errorf("%s: kubectl explain begins with %q, not with the field's name", path, firstWords(s.Description))
	}
	status := strings.HasPrefix(path, "status")
	switch s.Type {
	case "string":
		checkString(t, path, status, s)
	case "integer":
		if s.Minimum == nil || (!status && s.Maximum == nil) {
			t.Errorf("%s: the number has no bounds", path)
		}
	case "number":
		t.Errorf("%s: a float", path)
	case "array":
		if s.MaxItems == nil || s.XListType == nil {
			t.Errorf("%s: the list has no maxItems or no listType", path)
		}
		if !strings.HasSuffix(path, ".conditions") {
			checkSchema(t, path+"[]", "", s.Items.Schema)
		}
	case "object":
		if s.AdditionalProperties != nil && s.MaxProperties == nil {
			t.Errorf("%s: the map has no maxProperties", path)
		}
	case "":
		if !s.XIntOrString {
			t.Errorf("%s: no type", path)
		}
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		if property == "resources" { // of Kubernetes itself
			continue
		}
		child := s.Properties[property]
		checkSchema(t, path+"."+property, property, &child)
		if child.Default != nil && slices.Contains(s.Required, property) {
			t.Errorf("%s.%s: required, with a default", path, property)
		}
	}
	for _, rule := range s.XValidations {
		if rule.Message == "" {
			t.Errorf("%s: the rule %s has no message", path, rule.Rule)
		}
	}
}

// checkString asks for a length and a pattern, or what stands for them. The operator is the only one who writes status.
func checkString(t *testing.T, path string, status bool, s *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if len(s.Enum) > 0 || s.Format == "date-time" {
		return
	}
	duration := status && strings.HasSuffix(path, "Age")
	if s.MaxLength == nil && !duration {
		t.Errorf("%s: the string has no maxLength", path)
	}
	if !status && (s.MinLength == nil || s.Pattern == "") {
		t.Errorf("%s: the string has no minLength or no pattern", path)
	}
}

func firstWords(s string) string { return s[:min(len(s), 30)] }
