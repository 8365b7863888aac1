package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
)

// cluster reads objects from an API server.
type cluster struct{ reader client.Reader }

// connect answers a cluster and the namespace that the flags, or else the kubeconfig, say.
func connect(flags *genericclioptions.ConfigFlags) (*cluster, string, error) {
	log.SetLogger(logr.Discard())
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, "", fmt.Errorf("register the types: %w", err)
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("make a client: %w", err)
	}
	return &cluster{reader}, namespace, nil
}

// get reads an object; what is missing has an error that says what to do.
func (c *cluster) get(ctx context.Context, kind, namespace, name string, into client.Object) error {
	err := c.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return &notFoundError{fmt.Sprintf("there is no %s %s in namespace %s", kind, name, namespace)}
	case meta.IsNoMatchError(err):
		return fmt.Errorf("read %s %s/%s: the cluster does not know this kind; install the operator's CRDs", kind, namespace, name)
	case err != nil:
		return fmt.Errorf("read %s %s/%s: %w", kind, namespace, name, err)
	}
	return nil
}

// notFoundError: an object does not exist.
type notFoundError struct{ text string }

func (e *notFoundError) Error() string { return e.text }

// businessCalendar implements shelf.
func (c *cluster) businessCalendar(ctx context.Context, namespace, name string) (*v1alpha1.BusinessCalendar, error) {
	obj := &v1alpha1.BusinessCalendar{}
	return obj, c.get(ctx, "BusinessCalendar", namespace, name, obj)
}

// iCalendarMap implements shelf.
func (c *cluster) iCalendarMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	obj := &corev1.ConfigMap{}
	return obj, c.get(ctx, "ConfigMap", namespace, name, obj)
}

// schedule reads a ReminderSchedule. One that does not exist is an object in error; the error is about the cluster.
func (c *cluster) schedule(ctx context.Context, namespace, name string) (*object, error) {
	o := &object{kind: "ReminderSchedule", namespace: namespace, name: name}
	obj := &v1alpha1.ReminderSchedule{}
	err := c.get(ctx, o.kind, namespace, name, obj)
	if missing, ok := errors.AsType[*notFoundError](err); ok {
		o.fail("", "%v", missing)
		return o, nil
	}
	o.schedule = obj
	return o, err
}

// cluster shows schedules of a cluster.
func (f *nextFlags) cluster(ctx context.Context, p printer, from time.Time, names []string) error {
	c, namespace, err := connect(f.kube)
	if err != nil {
		return err
	}
	days, bad := newCalendars(c), false
	for _, name := range names {
		o, err := c.schedule(ctx, namespace, name)
		if err != nil {
			return errors.Join(p.flush(), err)
		}
		result := o.preview(ctx, days, from, f.window.count)
		bad = bad || result.Error != ""
		if err := p.print(result); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if bad {
		return errInError
	}
	return nil
}
