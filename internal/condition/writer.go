package condition

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writer writes the status of objects of one kind: on change, and at most once
// per Interval and object. It is safe for concurrent use.
type Writer struct {
	Client   client.Client
	Interval time.Duration
	Now      func() time.Time

	mu   sync.Mutex
	last map[types.NamespacedName]written
}

// written is the last write of one object.
type written struct {
	at time.Time
	// version is the resourceVersion that it gave the object.
	version string
	// underWay: another write is being made.
	underWay bool
}

// Wait is how long a status of this object may not be written yet; 0 when it may.
func (w *Writer) Wait(name types.NamespacedName) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[name]
	if !ok || last.at.IsZero() {
		return 0
	}
	return min(max(0, w.Interval-w.Now().Sub(last.at)), w.Interval)
}

// Ours tells whether an object is as the last write of its status left it. While
// a write is under way every version counts as ours: if it was another's, that
// write is refused, and the caller comes back.
func (w *Writer) Ours(object client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[client.ObjectKeyFromObject(object)]
	return ok && (last.underWay || last.version == object.GetResourceVersion())
}

// Forget drops what is kept of an object that is gone.
func (w *Writer) Forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, name)
}

// Write patches the status of an object when it differs from before. When the
// last write is too recent it writes nothing and answers how long to wait; the
// caller comes back then. The patch is refused by the API server when somebody
// else has changed the object meanwhile.
func (w *Writer) Write(ctx context.Context, object, before client.Object, changed bool) (time.Duration, error) {
	if !changed {
		return 0, nil
	}
	name := client.ObjectKeyFromObject(object)
	if wait := w.Wait(name); wait > 0 {
		return wait, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	w.note(name, func(last *written) { last.underWay = true })
	err := w.Client.Status().Patch(ctx, object, patch)
	w.note(name, func(last *written) {
		last.underWay = false
		if err == nil {
			last.at, last.version = w.Now(), object.GetResourceVersion()
		}
	})
	if err != nil {
		return 0, fmt.Errorf("patch status of %s: %w", name, err)
	}
	return 0, nil
}

func (w *Writer) note(name types.NamespacedName, change func(*written)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[types.NamespacedName]written{}
	}
	last := w.last[name]
	change(&last)
	w.last[name] = last
}

// Differs compares two API objects, or parts of them, by value.
func Differs(a, b any) bool { return !equality.Semantic.DeepEqual(a, b) }
