package admission

import (
	"fmt"
	"io/fs"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/config/crd"
)

// Schemas are those of all kinds. A kind's rules are compiled when its first object comes; then it is safe for concurrent
// use.
type Schemas struct {
	kinds map[string]func() (*kind, error)
}

// kind is what it takes to check the objects of one kind.
type kind struct {
	structure *schema.Structural
	types     validation.SchemaValidator
	rules     *cel.Validator
}

// Load reads the CustomResourceDefinitions that this program was built with.
func Load() (*Schemas, error) {
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the CRDs: %w", err)
	}
	s := &Schemas{kinds: map[string]func() (*kind, error){}}
	for _, file := range files {
		text, err := fs.ReadFile(crd.Bases, file)
		if err != nil {
			return nil, fmt.Errorf("read the CRD: %w", err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &definition); err != nil {
			return nil, fmt.Errorf("read the CRD %s: %w", file, err)
		}
		s.kinds[definition.Spec.Names.Kind] = sync.OnceValues(func() (*kind, error) { return compile(&definition) })
	}
	return s, nil
}

// compile does what an API server does with a CRD that it serves.
func compile(definition *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	for _, version := range definition.Spec.Versions {
		if version.Name != v1alpha1.GroupVersion.Version {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, fmt.Errorf("convert the schema of %s: %w", definition.Name, err)
		}
		structure, err := schema.NewStructural(&props)
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", definition.Name, err)
		}
		types, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			return nil, fmt.Errorf("compile the schema of %s: %w", definition.Name, err)
		}
		return &kind{structure, types, cel.NewValidator(structure, true, celconfig.PerCallLimit)}, nil
	}
	return nil, fmt.Errorf("the CRD %s has no version %s", definition.Name, v1alpha1.GroupVersion.Version)
}
