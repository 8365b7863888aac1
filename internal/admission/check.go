package admission

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Has tells whether there is a kind of this name.
func (s *Schemas) Has(name string) bool { return s.kinds[name] != nil }

// Check does with an object of one of the kinds what an API server does that creates it. It changes the object: unknown
// fields and the status go, defaults come. Unknown are the paths of the fields that the kind does not have, in order;
// kubectl refuses them, an API server alone drops them. Refusals are what is wrong with the object, by field; one that has no field,
// "<nil>", says that not all rules were checked. The error is about this program, not about the object.
func (s *Schemas) Check(ctx context.Context, object map[string]any) (unknown []string, refusals field.ErrorList, err error) {
	name, _ := object["kind"].(string)
	load := s.kinds[name]
	if load == nil {
		return nil, field.ErrorList{field.NotFound(field.NewPath("kind"), name)}, nil
	}
	k, err := load()
	if err != nil {
		return nil, nil, err
	}
	meta, unknown, fault := k.coerce(object)
	if fault != nil {
		return nil, field.ErrorList{fault}, nil
	}
	delete(object, "status")
	refusals = append(refusals, metaRefusals(meta)...)
	refusals = append(refusals, validation.ValidateCustomResource(nil, object, k.types)...)
	refusals = append(refusals, listtype.ValidateListSetsAndMaps(nil, k.structure, object)...)
	if slices.ContainsFunc(refusals, blocks) {
		return unknown, append(inOrder(refusals), notAllChecked()), nil
	}
	more, _ := k.rules.Validate(ctx, nil, k.structure, object, nil, celconfig.RuntimeCELCostBudget)
	return unknown, inOrder(append(refusals, more...)), nil
}

// coerce prunes an object to what its kind has and fills in defaults.
func (k *kind) coerce(object map[string]any) (meta *metav1.ObjectMeta, unknown []string, fault *field.Error) {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, ok := object[name].(string); !ok {
			return nil, nil, field.Required(field.NewPath(name), "")
		}
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, nil, field.Invalid(field.NewPath("metadata"), field.OmitValueType{}, err.Error())
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(object, k.structure, true, options)...)
	slices.Sort(unknown)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structure)
	if found {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return nil, nil, field.Invalid(field.NewPath("metadata"), field.OmitValueType{}, err.Error())
		}
	} else {
		meta = &metav1.ObjectMeta{}
	}
	defaulting.Default(object, k.structure)
	return meta, unknown, nil
}

// metaRefusals are what is wrong with the metadata. An object without a namespace gets one from whoever applies it, and
// one with generateName its name from the API server.
func metaRefusals(meta *metav1.ObjectMeta) field.ErrorList {
	meta = meta.DeepCopy()
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = meta.GenerateName + "00000"
	}
	return apivalidation.ValidateObjectMeta(meta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// inOrder sorts refusals by their fields: the schema goes through fields at random.
func inOrder(refusals field.ErrorList) field.ErrorList {
	slices.SortStableFunc(refusals, func(a, b *field.Error) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.ErrorBody(), b.ErrorBody()))
	})
	return refusals
}

// notAllChecked is the API server's hint, without a field, that there may be more.
func notAllChecked() *field.Error {
	return field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")
}

// blocks tells whether an API server leaves out the rules because of a refusal: they could not rely on the types.
func blocks(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
