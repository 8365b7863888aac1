package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/calendar"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/convert"
)

// errConfigMapUnavailable: the ConfigMap with an iCalendar file is missing, or has no such file in it.
var errConfigMapUnavailable = errors.New("ConfigMap unavailable")

// calendarError is what is wrong with a calendar, or with what it names, that only people can mend. Any other error of
// reading a calendar is a failure that passes.
type calendarError struct{ error }

// Unwrap gives errors.Is what convert and this package know a fault by.
func (f *calendarError) Unwrap() error { return f.error }

func isCalendarFault(err error) bool {
	_, ok := errors.AsType[*calendarError](err)
	return ok
}

// calendar reads and compiles the BusinessCalendar of a name together with those that it includes. Its error is a
// *calendarError, or a failure to read. What was compiled before is answered again while nothing of it has changed.
func (o Options) calendar(ctx context.Context, namespace, name string) (*calendar.Calendar, error) {
	g := &calendarGathering{Options: o, namespace: namespace, objects: map[string]*v1alpha1.BusinessCalendar{}}
	if err := g.gather(ctx, name); err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if g.objects[name] == nil {
		o.calendars.forget(key)
		return g.compile(ctx, name)
	}
	return o.calendars.compiled(key, g.version.String(), func() (*calendar.Calendar, error) { return g.compile(ctx, name) })
}

// calendarGathering is a calendar and all that it includes, as the cache has them.
type calendarGathering struct {
	Options
	namespace string
	objects   map[string]*v1alpha1.BusinessCalendar // nil for one that is missing
	order     []string                              // the names in the order in which they were read
	// version tells everything that was read, with its resourceVersion.
	version strings.Builder
}

// gather reads a calendar and those that it includes, in the order in which they are compiled and no more than may be.
func (g *calendarGathering) gather(ctx context.Context, name string) error {
	if _, known := g.objects[name]; known || len(g.objects) > calendar.MaxCalendars {
		return nil
	}
	obj := &v1alpha1.BusinessCalendar{}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: g.namespace, Name: name}, obj)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read calendar %s/%s: %w", g.namespace, name, err)
	}
	fmt.Fprintf(&g.version, "%s %s %s\n", name, obj.UID, obj.ResourceVersion)
	g.order = append(g.order, name)
	if err != nil {
		g.objects[name] = nil
		return nil
	}
	g.objects[name] = obj
	if err := g.gatherConfigMap(ctx, obj); err != nil {
		return err
	}
	for _, included := range obj.Spec.Include {
		if err := g.gather(ctx, included); err != nil {
			return err
		}
	}
	return nil
}

// gatherConfigMap notes which version the cache has of a calendar's ConfigMap. The cache has metadata only: the
// ConfigMaps of a cluster may be many, and large.
func (g *calendarGathering) gatherConfigMap(ctx context.Context, obj *v1alpha1.BusinessCalendar) error {
	source := obj.Spec.ICalendar
	if source == nil {
		return nil
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: g.namespace, Name: source.ConfigMapRef.Name}, found)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the metadata of ConfigMap %s/%s: %w", g.namespace, source.ConfigMapRef.Name, err)
	}
	fmt.Fprintf(&g.version, "%s %s %s\n", source.ConfigMapRef.Name, found.UID, found.ResourceVersion)
	return nil
}

// compile makes one calendar of what was gathered.
func (g *calendarGathering) compile(ctx context.Context, name string) (*calendar.Calendar, error) {
	texts := map[string]string{}
	for _, name := range g.order {
		obj := g.objects[name]
		if obj == nil || obj.Spec.ICalendar == nil {
			continue
		}
		text, err := g.iCalendar(ctx, obj.Spec.ICalendar.ConfigMapRef)
		if errors.Is(err, errConfigMapUnavailable) {
			return nil, &calendarError{fmt.Errorf("calendar %s: spec.iCalendar.configMapRef: %w", name, err)}
		}
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	compiled, err := convert.Calendar(name, func(name string) (*v1alpha1.BusinessCalendar, string, bool) {
		obj := g.objects[name]
		return obj, texts[name], obj != nil
	})
	if err != nil {
		return nil, &calendarError{err}
	}
	return compiled, nil
}

// iCalendar reads the text of an iCalendar file past the cache.
func (g *calendarGathering) iCalendar(ctx context.Context, ref v1alpha1.ConfigMapKeyRef) (string, error) {
	ref.Key = cmp.Or(ref.Key, v1alpha1.DefaultCalendarKey)
	configMap := &corev1.ConfigMap{}
	err := g.Reader.Get(ctx, client.ObjectKey{Namespace: g.namespace, Name: ref.Name}, configMap)
	if apierrors.IsNotFound(err) {
		return "", &unavailable{fmt.Sprintf("ConfigMap %s does not exist in this namespace; create it with the key %s", ref.Name, ref.Key)}
	}
	if err != nil {
		return "", fmt.Errorf("read ConfigMap %s/%s: %w", g.namespace, ref.Name, err)
	}
	text, ok := textOf(configMap, ref.Key)
	switch {
	case !ok:
		return "", &unavailable{fmt.Sprintf("ConfigMap %s has no key %s; add it, or name another", ref.Name, ref.Key)}
	case text == "":
		return "", &unavailable{fmt.Sprintf("key %s of ConfigMap %s is empty; write an iCalendar file into it", ref.Key, ref.Name)}
	}
	return text, nil
}

// textOf is the value of a key. What is not valid UTF-8, kubectl puts into binaryData.
func textOf(configMap *corev1.ConfigMap, key string) (string, bool) {
	if text, ok := configMap.Data[key]; ok {
		return text, true
	}
	data, ok := configMap.BinaryData[key]
	return string(data), ok
}

// unavailable says what is missing of a ConfigMap, and answers errors.Is for errConfigMapUnavailable.
type unavailable struct{ text string }

func (u *unavailable) Error() string        { return u.text }
func (u *unavailable) Is(target error) bool { return target == errConfigMapUnavailable }

// calendarSummary is what a calendar's status says of an error of reading it. What is missing may be created later; the
// rest only an edit can mend.
func calendarSummary(err error) condition.Summary {
	switch {
	case !isCalendarFault(err):
		return failed(err)
	case errors.Is(err, convert.ErrCalendarNotFound):
		return condition.Waiting(v1alpha1.ReasonCalendarNotFound, err.Error())
	case errors.Is(err, errConfigMapUnavailable):
		return condition.Waiting(v1alpha1.ReasonConfigMapUnavailable, err.Error())
	case errors.Is(err, convert.ErrCalendarCycle):
		return condition.Stalled(v1alpha1.ReasonCalendarCycle, err.Error())
	case errors.Is(err, convert.ErrNoBusinessDay):
		return condition.Stalled(v1alpha1.ReasonNoBusinessDay, err.Error())
	}
	return condition.Stalled(v1alpha1.ReasonInvalidSpec, err.Error())
}
