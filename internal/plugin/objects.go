package plugin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/admission"
)

// object is a document with what it is.
type object struct {
	document
	kind, namespace, name string
	problems              []problem
	repeated              bool // another object before it has its key

	// What it is; nil when it is of another kind, or cannot be read as this one.
	schedule  *v1alpha1.ReminderSchedule
	calendar  *v1alpha1.BusinessCalendar
	channel   *v1alpha1.ReminderChannel
	configMap *corev1.ConfigMap
}

// key is an object's place in a namespace.
type key struct{ kind, namespace, name string }

func (o *object) key() key { return key{o.kind, o.namespace, o.name} }

// label names an object for people.
func (o *object) label() string {
	switch {
	case o.name != "":
		return cmp.Or(o.kind, "object") + "/" + o.name
	case o.kind != "":
		return o.kind + " in " + o.place()
	}
	return o.place()
}

func (o *object) fail(path, format string, args ...any) {
	o.problems = append(o.problems, problem{Severity: severityError, Path: path, Message: fmt.Sprintf(format, args...)})
}

// inventory is what files hold.
type inventory struct {
	objects []*object // of our kinds, in the order of the documents; and documents that cannot be read
	byKey   map[key]*object
	skipped map[string]int // objects of other kinds, by file and kind
}

// takeStock says what each document is, and what a schema says of it. Objects without a namespace are in the one given.
func takeStock(ctx context.Context, schemas *admission.Schemas, namespace string, documents []document) (*inventory, error) {
	i := &inventory{byKey: map[key]*object{}, skipped: map[string]int{}}
	for _, d := range documents {
		o := identify(d, namespace)
		apiVersion, _ := d.object["apiVersion"].(string)
		group, _, _ := strings.Cut(apiVersion, "/")
		switch {
		case d.err != nil:
			o.fail("", "%v", d.err)
		case o.kind == "":
			o.fail("kind", "there is none: an object begins with apiVersion and kind")
		case group == v1alpha1.GroupName:
			if err := o.admit(ctx, schemas, apiVersion); err != nil {
				return nil, err
			}
		case apiVersion == "v1" && o.kind == "ConfigMap":
			o.configMap = readAs[corev1.ConfigMap](o)
			i.byKey[o.key()] = o
			continue
		default:
			i.skipped[fmt.Sprintf("%s: %s %s", d.file, cmp.Or(apiVersion, "(no apiVersion)"), o.kind)]++
			continue
		}
		i.add(o)
	}
	return i, nil
}

func (i *inventory) add(o *object) {
	i.objects = append(i.objects, o)
	if o.name == "" {
		return
	}
	if before := i.byKey[o.key()]; before != nil {
		o.repeated = true
		o.fail("metadata.name", "there are two of this name; the other is %s of %s", before.place(), before.file)
		return
	}
	i.byKey[o.key()] = o
}

// notes say which documents were left out.
func (i *inventory) notes() []string {
	var notes []string
	for _, kind := range slices.Sorted(maps.Keys(i.skipped)) {
		note := kind + " is no kind of reminders.dev: skipped"
		if n := i.skipped[kind]; n > 1 {
			note = fmt.Sprintf("%s (%d objects)", note, n)
		}
		notes = append(notes, note)
	}
	return notes
}

func identify(d document, namespace string) *object {
	o := &object{document: d}
	o.kind, _ = d.object["kind"].(string)
	metadata, _ := d.object["metadata"].(map[string]any)
	o.name, _ = metadata["name"].(string)
	o.namespace, _ = metadata["namespace"].(string)
	o.namespace = cmp.Or(o.namespace, namespace)
	return o
}

// admit checks an object of our group as an API server does, and reads it.
func (o *object) admit(ctx context.Context, schemas *admission.Schemas, apiVersion string) error {
	if apiVersion != v1alpha1.GroupVersion.String() {
		o.fail("apiVersion", "%s is not known here; write %s", apiVersion, v1alpha1.GroupVersion)
		return nil
	}
	if !schemas.Has(o.kind) {
		o.fail("kind", "%s is no kind of %s; they are ReminderSchedule, ReminderChannel, BusinessCalendar and ReminderReplay", o.kind, v1alpha1.GroupName)
		return nil
	}
	unknown, refusals, err := schemas.Check(ctx, o.document.object)
	if err != nil {
		return err
	}
	for _, path := range unknown {
		o.fail(path, "there is no such field")
	}
	for _, refusal := range refusals {
		o.problems = append(o.problems, refusalProblem(refusal))
	}
	o.problems = withoutPatterns(o.problems)
	switch o.kind {
	case "ReminderSchedule":
		o.schedule = readAs[v1alpha1.ReminderSchedule](o)
	case "BusinessCalendar":
		o.calendar = readAs[v1alpha1.BusinessCalendar](o)
	case "ReminderChannel":
		o.channel = readAs[v1alpha1.ReminderChannel](o)
	}
	return nil
}

// readAs gives an object its type; nil if that cannot be, for which it then has a problem.
func readAs[T any](o *object) *T {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.document.object, typed); err != nil {
		if len(o.problems) == 0 {
			o.fail("", "this cannot be read: %v", err)
		}
		return nil
	}
	return typed
}
