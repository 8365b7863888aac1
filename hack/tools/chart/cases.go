package main

import (
	"fmt"
	"strings"
)

// A chartCase is one way to install the chart, and what must come of it.
type chartCase struct {
	name   string
	values map[string]any

	// refused is part of the error that the values must be answered with.
	refused string
	// want and wantNot are kind/name pairs.
	want, wantNot []string
	// contains is text that must be in the rendered object of that kind/name.
	contains map[string]string
}

type set = map[string]any

var cases = []chartCase{
	{
		name: "defaults",
		want: []string{
			"Deployment/trial-reminder-operator",
			"ServiceAccount/trial-reminder-operator",
			"ServiceAccount/trial-reminder-operator-worker",
			"ClusterRole/trial-reminder-operator-manager-role",
			"ClusterRoleBinding/trial-reminder-operator-manager-rolebinding",
			"Role/trial-reminder-operator-leader-election-role",
			"ClusterRole/trial-reminder-operator-reminders-editor",
			"CustomResourceDefinition/businesscalendars.reminders.dev",
			"CustomResourceDefinition/reminderchannels.reminders.dev",
			"CustomResourceDefinition/reminderreplays.reminders.dev",
			"CustomResourceDefinition/reminderschedules.reminders.dev",
		},
		contains: map[string]string{
			"Deployment/trial-reminder-operator":                             "--nats-url=nats://nats.nats:4222",
			"CustomResourceDefinition/reminderschedules.reminders.dev":       "helm.sh/resource-policy: keep",
			"ClusterRoleBinding/trial-reminder-operator-manager-rolebinding": "namespace: reminders",
		},
	},
	{
		name: "everything set",
		values: set{
			"image":             set{"repository": "example.com/reminder-operator", "tag": "v1", "pullPolicy": "Always", "pullSecrets": []any{"pull"}},
			"replicas":          2,
			"nats":              set{"url": "nats://a:4222,tls://b:4222", "replicas": 3, "credentialsSecret": "nats"},
			"leaderElection":    false,
			"extraArgs":         []any{"--look-ahead=10m"},
			"crds":              set{"keep": false},
			"serviceAccount":    set{"name": "reminders", "annotations": set{"example.com/identity": "reminders"}},
			"fullnameOverride":  "ro",
			"podAnnotations":    set{"example.com/a": "b"},
			"podLabels":         set{"example.com/c": "d"},
			"nodeSelector":      set{"kubernetes.io/os": "linux"},
			"tolerations":       []any{set{"key": "a", "operator": "Exists"}},
			"affinity":          set{"podAntiAffinity": set{"preferredDuringSchedulingIgnoredDuringExecution": []any{}}},
			"priorityClassName": "high",
		},
		want: []string{"Deployment/ro", "ServiceAccount/reminders", "ClusterRole/ro-reminders-viewer"},
		contains: map[string]string{
			"Deployment/ro": "example.com/reminder-operator:v1",
			"ClusterRoleBinding/ro-manager-rolebinding": "name: reminders",
		},
	},
	{
		name:   "nothing but the operator",
		values: set{"crds": set{"enabled": false}, "rbac": set{"create": false, "aggregate": false}, "serviceAccount": set{"create": false}},
		want:   []string{"Deployment/trial-reminder-operator"},
		wantNot: []string{
			"ServiceAccount/trial-reminder-operator",
			"ClusterRole/trial-reminder-operator-manager-role",
			"ClusterRole/trial-reminder-operator-reminders-editor",
			"CustomResourceDefinition/reminderschedules.reminders.dev",
		},
	},
	{name: "a misspelt value", values: set{"replica": 2}, refused: "replica"},
	{name: "a password in the URL", values: set{"nats": set{"url": "nats://user:secret@nats:4222"}}, refused: "/nats/url"},
	{
		name:     "ranges that are allowed",
		values:   set{"egress": set{"allow": []any{"10.96.0.0/12", "fd00:10::/64"}}},
		contains: map[string]string{"Deployment/trial-reminder-operator": "- --egress-allow=10.96.0.0/12\n            - --egress-allow=fd00:10::/64"},
	},
	{
		name:     "ranges that are denied",
		values:   set{"egress": set{"deny": []any{"192.0.128.0/17"}}},
		contains: map[string]string{"Deployment/trial-reminder-operator": "- --egress-deny=192.0.128.0/17"},
	},
	{name: "an address without a length", values: set{"egress": set{"allow": []any{"10.0.0.1"}}}, refused: "/egress/allow/0"},
	{name: "a name as a range", values: set{"egress": set{"deny": []any{"cluster.local/8"}}}, refused: "/egress/deny/0"},
	{name: "no NATS", values: set{"nats": set{"url": ""}}, refused: "/nats/url"},
	{name: "a number as text", values: set{"replicas": "2"}, refused: "/replicas"},
}

func (c chartCase) check(chart string) ([]object, error) {
	objects, err := render(chart, c.values)
	if c.refused != "" {
		switch {
		case err == nil:
			return nil, fmt.Errorf("was accepted; want an error that names %q", c.refused)
		case !strings.Contains(err.Error(), c.refused):
			return nil, fmt.Errorf("was refused without naming %q: %w", c.refused, err)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return objects, c.expect(objects)
}

func (c chartCase) expect(objects []object) error {
	texts := map[string]string{}
	for _, o := range objects {
		if _, twice := texts[o.id()]; twice {
			return fmt.Errorf("%s is rendered twice", o.id())
		}
		texts[o.id()] = o.text
	}
	for _, id := range c.want {
		if _, found := texts[id]; !found {
			return fmt.Errorf("%s is missing", id)
		}
	}
	for _, id := range c.wantNot {
		if _, found := texts[id]; found {
			return fmt.Errorf("%s should not be there", id)
		}
	}
	for id, text := range c.contains {
		if !strings.Contains(texts[id], text) {
			return fmt.Errorf("%s does not contain %q", id, text)
		}
	}
	return nil
}
