package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/plugin"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
	"github.com/reminder-operator/reminder-operator/test/system"
)

// killAfter is how many of the burst have arrived when the worker is killed.
const killAfter = 6

// errSilent ends the program with a failure that has been printed already.
var errSilent = errors.New("the demo failed")

// demo is the command run.
func demo(ctx context.Context, out io.Writer) error {
	ctx, cancel := system.WithParents(ctx)
	defer cancel()
	p, err := placeOf("demo")
	if err != nil {
		return err
	}
	unlock, err := p.begin()
	if err != nil {
		return err
	}
	defer unlock()
	t := newTeller(out, p.dir)
	t.say("State and logs are in %s", p.dir)
	s, err := start(ctx, t, p.dir)
	if err != nil {
		return err
	}
	v, err := s.story(ctx)
	if err == nil {
		t.say("Ending everything")
	}
	s.close()
	if err != nil {
		return err
	}
	for _, problem := range v.problems {
		t.print("demo: problem: " + problem)
	}
	if len(v.problems) > 0 {
		t.print("demo: see the logs in " + p.dir)
	}
	t.print(fmt.Sprintf("demo: delivered=%d duplicates=%d lost=%d dead=%d seconds=%d", v.delivered, v.duplicates, v.lost, v.dead, t.seconds()))
	if len(v.problems) > 0 {
		return errSilent
	}
	return nil
}

// story is the demo itself, on a system that runs.
func (s *site) story(ctx context.Context) (verdict, error) {
	due := time.Now().Add(8 * time.Second).Truncate(time.Second)
	s.say("Applying the schedules; 20 invoices and 3 hard cases fall due at %s", due.UTC().Format(time.TimeOnly))
	if err := s.apply(ctx, due, schedules...); err != nil {
		return verdict{}, err
	}
	if err := s.killInBurst(ctx); err != nil {
		return verdict{}, err
	}
	if err := s.awaitOutcomes(ctx); err != nil {
		return verdict{}, err
	}
	return s.settle(ctx)
}

// killInBurst kills the worker when some of the burst have arrived, and starts
// it again a moment later.
func (s *site) killInBurst(ctx context.Context) error {
	obj, err := s.channel(ctx)
	if err != nil {
		return err
	}
	worker := obj.Status.DeploymentName
	s.Node.SetRestart(worker, false)
	s.say("Waiting for the burst; the worker is killed when %d of 20 have arrived", killAfter)
	err = s.await(ctx, "the burst has begun", burstLimit, func(ctx context.Context) (bool, string, error) {
		n, err := s.arrived(ctx)
		return n >= killAfter, "", err
	})
	if err != nil {
		return err
	}
	if err := s.Node.Kill(worker); err != nil {
		return err
	}
	if err := s.sayInFlight(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(2 * time.Second):
	}
	s.say("Starting the worker again")
	s.Node.SetRestart(worker, true)
	return nil
}

// arrived is how many reminders of the burst have arrived.
func (s *site) arrived(ctx context.Context) (int, error) {
	books, err := s.stats(ctx)
	n := 0
	for key := range books.Keys {
		if strings.HasPrefix(key, namespace+"/"+burst+"/") {
			n++
		}
	}
	return n, err
}

// sayInFlight says what the killed worker left behind: the kill proves nothing
// unless something was on its way.
func (s *site) sayInFlight(ctx context.Context) error {
	accounts, err := s.accounts(ctx, time.Now())
	if err != nil {
		return err
	}
	states := map[reminder.State]int{}
	for _, a := range accounts {
		if a.schedule == burst {
			for _, r := range a.records {
				states[r.State]++
			}
		}
	}
	s.say("Killed the worker (SIGKILL): %d of 20 recorded as sent, %d claimed and without an outcome, %d waiting",
		states[reminder.Sent], states[reminder.Claimed], states[reminder.Scheduled]+states[reminder.Retrying])
	if states[reminder.Claimed]+states[reminder.Scheduled] == 0 {
		return fmt.Errorf("kill the worker in the middle of the burst: the burst was over; is the machine overloaded? See the logs in %s", s.logs)
	}
	return nil
}

// awaitOutcomes waits until everything that was to happen has happened at the
// receiver: all of the burst, and one round of the recurring schedule.
func (s *site) awaitOutcomes(ctx context.Context) error {
	s.say("Waiting for the rest, and for a minute to begin, when the schedule %s is due", recurring)
	err := s.await(ctx, "everything has an outcome", burstLimit, func(ctx context.Context) (bool, string, error) {
		accounts, err := s.accounts(ctx, time.Now())
		if err != nil {
			return false, "", err
		}
		var seen []string
		open := 0
		for _, a := range accounts {
			open += a.open()
			accepted, rejected := taken(a.keys)
			seen = append(seen, fmt.Sprintf("%s: %d accepted, %d rejected", a.schedule, accepted, rejected))
		}
		return open == 0, strings.Join(seen, " · "), nil
	})
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.say("%v", err) // the comparison says what is missing
	return nil
}

// settle stops the recurring schedule, so that no minute turns over meanwhile,
// and compares the books until they agree: status is not written at once.
func (s *site) settle(ctx context.Context) (verdict, error) {
	stopped := time.Now()
	s.say("Suspending %s and waiting for status to catch up", recurring)
	if _, err := s.Kube.Kubectl(ctx, "patch", "reminderschedule", recurring, "-n", namespace, "--type=merge", "-p", `{"spec":{"suspend":true}}`); err != nil {
		return verdict{}, err
	}
	var v verdict
	var accounts []account
	err := s.await(ctx, "status agrees with the receiver", burstLimit, func(ctx context.Context) (bool, string, error) {
		quiet, err := s.quiet(ctx)
		if err != nil || !quiet {
			return false, "", err
		}
		if accounts, err = s.accounts(ctx, stopped); err != nil {
			return false, "", err
		}
		v = compare(accounts)
		return len(v.problems) == 0, "", nil
	})
	if ctx.Err() != nil {
		return verdict{}, context.Cause(ctx)
	}
	if err != nil {
		v.problem("%v", err)
	}
	if err := s.show(ctx, accounts); err != nil {
		return v, err
	}
	s.audit(&v)
	return v, nil
}

// audit runs what a user would run for a proof.
func (s *site) audit(v *verdict) {
	log := filepath.Join(s.Dir, "receiver.accepted.jsonl")
	args := []string{"audit", "-n", namespace, "--nats-url", s.NATS.URL, "--receiver", log, "--grace", "5s"}
	var out bytes.Buffer
	streams := genericclioptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	code := plugin.Run(append(args, "--kubeconfig", s.Kube.Kubeconfig), streams, time.Now)
	s.print("$ kubectl reminders " + strings.Join(args, " ") + "\n" + out.String())
	if code != 0 {
		v.problem("the audit ended with exit code %d", code)
	}
}

// quiet tells whether the recurring schedule has come to rest.
func (s *site) quiet(ctx context.Context) (bool, error) {
	obj := &v1alpha1.ReminderSchedule{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: recurring}, obj); err != nil {
		return false, fmt.Errorf("read schedule %s: %w", recurring, err)
	}
	return isSuspended(obj), nil
}

// show prints what a user would look at, and the receiver's books.
func (s *site) show(ctx context.Context, accounts []account) error {
	command := []string{"get", "reminderschedules,reminderchannels", "-n", namespace, "-o", "wide"}
	out, err := s.Kube.Kubectl(ctx, command...)
	if err != nil {
		return err
	}
	s.print("\n$ kubectl " + strings.Join(command, " ") + "\n" + out)
	s.print("\n" + table(accounts) + "\n")
	return nil
}
