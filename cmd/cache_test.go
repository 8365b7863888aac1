package cmd

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// kubectl apply keeps a whole ConfigMap in an annotation.
func TestOfAConfigMapOnlyNameAndVersionAreCached(t *testing.T) {
	t.Parallel()
	var strip cache.TransformFunc = nameOnly
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "office", UID: "uid-1", ResourceVersion: "7",
		Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 1<<18)},
		Labels:      map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	if _, err := strip(obj); err != nil {
		t.Fatal(err)
	}
	if obj.Namespace != "shop" || obj.Name != "office" || obj.UID != types.UID("uid-1") || obj.ResourceVersion != "7" {
		t.Errorf("too little is left: %+v", obj)
	}
	if len(obj.Annotations)+len(obj.Labels)+len(obj.ManagedFields) > 0 {
		t.Errorf("too much is left: %+v", obj)
	}
	gone := cache.DeletedFinalStateUnknown{Key: "shop/office"}
	if out, err := strip(gone); err != nil || out != any(gone) {
		t.Errorf("a tombstone became %v, error %v", out, err)
	}
}

// Of managed fields it is kept when somebody edited the object, otherwise than its status.
func TestOfManagedFieldsTheTimesAreCached(t *testing.T) {
	t.Parallel()
	at := metav1.Now()
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, Time: &at, FieldsV1: &metav1.FieldsV1{}},
		{Manager: "controller", Time: &at, Subresource: "status", FieldsV1: &metav1.FieldsV1{}},
	}}}
	if _, err := editTimes(obj); err != nil {
		t.Fatal(err)
	}
	want := []metav1.ManagedFieldsEntry{{Time: &at}, {Time: &at, Subresource: "status"}}
	if !reflect.DeepEqual(obj.ManagedFields, want) {
		t.Errorf("left are %+v", obj.ManagedFields)
	}
}
