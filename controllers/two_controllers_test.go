package controllers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/broker"
	"github.com/reminder-operator/reminder-operator/internal/condition"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// behindBy is a controller whose cache now and then shows what it showed before.
func (s *site) behindBy(random *rand.Rand) *scheduleReconciler {
	r := s.another()
	var mu sync.Mutex
	var last *v1alpha1.ReminderSchedule
	r.Client = interceptor.NewClient(s.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			o, ok := obj.(*v1alpha1.ReminderSchedule)
			if !ok {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if last != nil && random.IntN(3) == 0 {
				last.DeepCopyInto(o)
				return nil
			}
			if err == nil {
				last = o.DeepCopy()
			}
			return err
		},
	})
	r.status = &condition.Writer{Client: r.Client, Now: r.Now}
	return r
}

// act is what a user does next.
func (s *site) act(random *rand.Rand, turn int) error {
	obj := &v1alpha1.ReminderSchedule{}
	if err := s.api.Get(s.t.Context(), renewal, obj); apierrors.IsNotFound(err) {
		return s.api.Create(s.t.Context(), s.hourly(3, func(o *v1alpha1.ReminderSchedule) { o.UID = types.UID(fmt.Sprint("uid-", turn)) }))
	} else if err != nil {
		return err
	}
	if !obj.DeletionTimestamp.IsZero() {
		return nil
	}
	obj.Generation++
	switch random.IntN(7) {
	case 0:
		return s.api.Delete(s.t.Context(), obj)
	case 1:
		obj.Spec.Suspend = true
	case 2:
		obj.Spec.Suspend = false
	case 3:
		obj.Spec.Message.Body = fmt.Sprint("turn ", turn)
	case 4:
		obj.Spec.Schedule.Every = duration(time.Duration(30+10*random.IntN(4)) * time.Second)
	case 5:
		obj.Spec.Recipients[0].Active = new(random.IntN(2) == 0)
	case 6:
		obj.Spec.SLO = nil
		if random.IntN(3) == 0 {
			obj.Spec.SLO = anObjective
		}
	}
	return s.api.Update(s.t.Context(), obj)
}

// Two controllers with caches that are behind, and a user who changes his mind all
// the time: in the end exactly what the spec says is planned, and nothing else.
func TestTwoControllersConverge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			s := newSite(t)
			s.lastEdit = s.now()
			var running sync.WaitGroup
			ctx, stop := context.WithCancel(t.Context())
			for i := range uint64(2) {
				r, order := s.behindBy(rand.New(rand.NewPCG(seed, 2+i))), rand.New(rand.NewPCG(seed, 4+i))
				running.Go(func() {
					for ctx.Err() == nil {
						_, _ = r.Reconcile(ctx, ctrl.Request{NamespacedName: renewal})
						wander(ctx, time.Duration(order.IntN(10))*time.Millisecond)
					}
				})
			}
			for turn := range 60 {
				if err := s.act(random, turn); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
					t.Fatal(err)
				}
				wander(ctx, time.Duration(random.IntN(20))*time.Millisecond)
			}
			stop()
			running.Wait()
			s.settle()
		})
	}
}

func wander(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// settle makes passes of both kinds until nothing is left to do, and compares what
// is there with what the spec asks for.
func (s *site) settle() {
	s.t.Helper()
	final := s.another()
	final.status = &condition.Writer{Client: s.api, Now: s.now}
	for range 5 {
		if _, err := final.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: renewal}); err != nil {
			s.t.Fatal(err)
		}
		if err := s.upkeep().retireOrphans(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	var want []string
	obj := &v1alpha1.ReminderSchedule{}
	err := s.api.Get(s.t.Context(), renewal, obj)
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	if planned := err == nil && obj.Spec.SLO == nil; planned {
		for one := range planOf(s.t, scheduleInput{object: obj, entry: s.entry(), now: s.now()}).reminders {
			want = append(want, one.Key.String())
		}
	}
	if err == nil && obj.Spec.SLO != nil && !obj.Spec.Suspend {
		return // what stays planned of a spec before the last one depends on which ones were seen
	}
	var have []string
	err = s.Broker.Ledger.Of(s.t.Context(), renewal.Namespace, renewal.Name, func(r broker.Revision) error {
		if r.Record.State == reminder.Scheduled {
			have = append(have, r.Record.Key.String())
			if standing, err := s.Broker.Queue.Standing(s.t.Context(), r.Record.Key); err != nil || !standing {
				s.t.Errorf("no message stands for %s (%v)", r.Record.Key, err)
			}
			if r.Record.Epoch != s.entry().Epoch {
				s.t.Errorf("%s is planned under epoch %d, registered is %d", r.Record.Key, r.Record.Epoch, s.entry().Epoch)
			}
		}
		return r.Err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		s.t.Errorf("planned (-want +have) by %+v:\n%s", metav1.ObjectMeta{UID: obj.UID, Generation: obj.Generation}, diff)
	}
}
