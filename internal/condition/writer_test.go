package condition_test

import (
	"context"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/condition"
)

// desk is a writer with its clock, and an object that it writes.
type desk struct {
	*condition.Writer
	t     *testing.T
	now   time.Time
	patch int
	name  client.ObjectKey
	// during is called while a patch is under way.
	during func()
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, now: time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC), during: func() {}}
	obj := &v1alpha1.ReminderSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "renewal", Generation: 1}}
	d.name = client.ObjectKeyFromObject(obj)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			d.patch++
			d.during()
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	d.Writer = &condition.Writer{Client: c, Interval: 10 * time.Second, Now: func() time.Time { return d.now }}
	return d
}

func (d *desk) get() *v1alpha1.ReminderSchedule {
	d.t.Helper()
	obj := &v1alpha1.ReminderSchedule{}
	if err := d.Client.Get(d.t.Context(), d.name, obj); err != nil {
		d.t.Fatal(err)
	}
	return obj
}

// write writes a status that says how many reminders were sent.
func (d *desk) write(sent int64) (time.Duration, error) {
	d.t.Helper()
	obj := d.get()
	before := obj.DeepCopy()
	obj.Status.Counts = &v1alpha1.ReminderCounts{Sent: sent}
	return d.Write(d.t.Context(), obj, before, condition.Differs(before.Status, obj.Status))
}

func (d *desk) want(sent int64, patches int) {
	d.t.Helper()
	if got := d.get().Status.Counts; got == nil || got.Sent != sent {
		d.t.Errorf("stored counts %+v, want %d sent", got, sent)
	}
	if d.patch != patches {
		d.t.Errorf("%d patches, want %d", d.patch, patches)
	}
}

func TestWriterWritesOnChangeOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 3 {
		if wait, err := d.write(1); wait != 0 || err != nil {
			t.Fatalf("wait %s, error %v; want neither", wait, err)
		}
	}
	d.want(1, 1)
}

func TestWriterWritesOncePerInterval(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	start := d.now
	patches := 0
	for n := int64(1); d.now.Before(start.Add(time.Minute)); n++ {
		wait, err := d.write(n)
		if err != nil {
			t.Fatal(err)
		}
		if wait == 0 {
			patches++
		}
		if end := d.Wait(d.name); wait > 0 && wait != end {
			t.Fatalf("Write says %s and Wait %s", wait, end)
		}
		d.now = d.now.Add(700 * time.Millisecond)
	}
	if patches != 6 || d.patch != 6 {
		t.Errorf("%d patches in a minute, want 6", d.patch)
	}
}

func TestWriterAnswersTheRestOfTheInterval(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if d.Wait(d.name) != 0 {
		t.Error("an object that was never written has to wait")
	}
	_, _ = d.write(1)
	d.now = d.now.Add(3 * time.Second)
	if wait, err := d.write(2); wait != 7*time.Second || err != nil {
		t.Errorf("wait %s, error %v; want 7s", wait, err)
	}
	d.want(1, 1)
	d.now = d.now.Add(7 * time.Second)
	if wait, err := d.write(3); wait != 0 || err != nil {
		t.Errorf("wait %s, error %v; want neither", wait, err)
	}
	d.want(3, 2)
}

func TestWriterIsHeldUpByNeitherAClockThatStepsBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, _ = d.write(1)
	d.now = d.now.Add(-24 * time.Hour)
	if wait := d.Wait(d.name); wait > d.Interval {
		t.Errorf("has to wait %s, longer than the interval", wait)
	}
}

func TestWriterForgets(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, _ = d.write(1)
	d.Forget(d.name)
	if wait, err := d.write(2); wait != 0 || err != nil {
		t.Errorf("wait %s, error %v; want neither for an object that was forgotten", wait, err)
	}
}

func TestWriterRefusesToOverwriteWhatItHasNotSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	obj := d.get()
	before := obj.DeepCopy()
	label := d.get()
	label.Labels = map[string]string{"a": "b"}
	if err := d.Client.Update(t.Context(), label); err != nil {
		t.Fatal(err)
	}
	obj.Status.Counts = &v1alpha1.ReminderCounts{Sent: 1}
	if _, err := d.Write(t.Context(), obj, before, true); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	if wait, err := d.write(2); wait != 0 || err != nil {
		t.Errorf("wait %s, error %v; a write that failed counts for nothing", wait, err)
	}
}

func TestWriterKnowsItsOwnWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if d.Ours(d.get()) {
		t.Error("what was never written counts as ours")
	}
	d.during = func() {
		if !d.Ours(d.get()) {
			t.Error("an event that comes while the write is under way counts as another's")
		}
	}
	_, _ = d.write(1)
	if !d.Ours(d.get()) {
		t.Error("our own write counts as another's")
	}
	other := d.get()
	other.Status.Counts.Sent = 99
	if err := d.Client.Status().Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if d.Ours(d.get()) {
		t.Error("another's write counts as ours")
	}
}

func TestWriterIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				d.Wait(d.name)
				d.Ours(&v1alpha1.ReminderSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "renewal"}})
				d.Forget(d.name)
			}
		})
	}
	all.Wait()
}
