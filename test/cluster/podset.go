package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podSet is the pods of one Deployment, by index.
type podSet map[int]*pod

// counts is what a Deployment's status says of its pods.
type counts struct{ wanted, all, updated, ready int32 }

func (s podSet) indexes() []int { return slices.Sorted(maps.Keys(s)) }

// sync starts and ends pods so that in the end there are as many as the
// Deployment wants, all of its present template.
func (s podSet) sync(n *ProcessNode, d *appsv1.Deployment) counts {
	hash := templateHash(&d.Spec.Template)
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	s.scale(int(wanted))
	for i := range int(wanted) {
		if _, ok := s[i]; !ok {
			s[i] = startPod(n, d, i, hash)
		}
	}
	s.replaceOutdated(hash, d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType)
	c := counts{wanted: wanted}
	for _, p := range s {
		p.lookAgain()
		c.all++
		if p.hash == hash {
			c.updated++
		}
		if p.child().Ready {
			c.ready++
		}
	}
	return c
}

// scale forgets the pods that have ended and ends those beyond a number.
func (s podSet) scale(wanted int) {
	for i, p := range s {
		if p.hasEnded() {
			delete(s, i)
		} else if i >= wanted {
			p.stop()
		}
	}
}

// replaceOutdated ends pods of an older template: all at once, or the next
// one when its predecessors are ready.
func (s podSet) replaceOutdated(hash string, atOnce bool) {
	for _, i := range s.indexes() {
		p := s[i]
		switch {
		case p.hash != hash:
			p.stop()
		case p.child().Ready:
			continue
		}
		if !atOnce {
			return
		}
	}
}

// templateHash identifies a pod template.
func templateHash(t *corev1.PodTemplateSpec) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("encode a pod template: %v", err)) // it was decoded from JSON
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// writeStatus writes a Deployment's status when it differs.
func (n *ProcessNode) writeStatus(ctx context.Context, d *appsv1.Deployment, c counts) error {
	after := d.DeepCopy()
	s := &after.Status
	s.ObservedGeneration = d.Generation
	s.Replicas, s.UpdatedReplicas = c.all, c.updated
	s.ReadyReplicas, s.AvailableReplicas = c.ready, c.ready
	s.UnavailableReplicas = max(c.wanted-c.ready, 0)
	setCondition(s, appsv1.DeploymentAvailable, c.ready >= c.wanted, "MinimumReplicasAvailable", "MinimumReplicasUnavailable")
	done := c.all == c.wanted && c.updated == c.wanted && c.ready == c.wanted
	setCondition(s, appsv1.DeploymentProgressing, true, map[bool]string{true: "NewReplicaSetAvailable", false: "ReplicaSetUpdated"}[done], "")
	if reflect.DeepEqual(d.Status, after.Status) {
		return nil
	}
	if err := n.client.Status().Patch(ctx, after, client.MergeFrom(d)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of Deployment %s: %w", d.Name, err)
	}
	return nil
}

// setCondition sets a condition and keeps its times when nothing changed.
func setCondition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, on bool, yes, no string) {
	want := appsv1.DeploymentCondition{Type: kind, Status: corev1.ConditionTrue, Reason: yes}
	if !on {
		want.Status, want.Reason = corev1.ConditionFalse, no
	}
	want.LastUpdateTime, want.LastTransitionTime = metav1.Now(), metav1.Now()
	i := slices.IndexFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == kind })
	if i < 0 {
		s.Conditions = append(s.Conditions, want)
		return
	}
	old := s.Conditions[i]
	if old.Status == want.Status {
		want.LastTransitionTime = old.LastTransitionTime
		if old.Reason == want.Reason {
			return
		}
	}
	s.Conditions[i] = want
}
