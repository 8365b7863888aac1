package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReplayAction says what is done with dead letters.
// +kubebuilder:validation:Enum=Replay;Discard
type ReplayAction string

// Values of ReplayAction.
const (
	ActionReplay  ReplayAction = "Replay"
	ActionDiscard ReplayAction = "Discard"
)

// DeadReason is why a reminder is dead.
// +kubebuilder:validation:Enum=RetryBudgetExhausted;DeadlineReached;PermanentFailure;InvalidRecipient;EndpointGone;InvalidMessage;InvalidEligibility;ReconciliationRequired;Poison
type DeadReason string

// ReminderReplaySpec says which dead letters to replay or discard, and why. It cannot be changed: it is the record of
// an operation.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a ReminderReplay is the record of one operation and cannot be changed: create another one"
// +kubebuilder:validation:XValidation:rule="!has(self.extendDeadline) || self.action == 'Replay'",message="extendDeadline goes with action Replay only",fieldPath=".extendDeadline"
type ReminderReplaySpec struct {
	// scheduleName is the ReminderSchedule in the same namespace whose dead letters are meant, such as renewal-notice. 1 to
	// 253 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	ScheduleName string `json:"scheduleName,omitempty"`

	// action is Replay, try again under the same key, so that a receiver that deduplicates accepts at most once; or
	// Discard, close without a send. Either is done once per reminder and object. A replayed reminder has its whole retry
	// budget again, and no more than 5 replays in all. Dead letters with reason ReconciliationRequired may have been
	// accepted already, so that trying them again may repeat a message: they are replayed only where reasons names
	// ReconciliationRequired or keys names them.
	// +required
	Action ReplayAction `json:"action,omitempty"`

	// keys select dead letters by key, as status.deadLetters.recent of the schedule shows them, such as
	// shop/renewal-notice/2026-11-03T08:00:00Z/acct_4821. At most 1000, each 1 to 1024 characters. Default: unset, all keys.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	Keys []string `json:"keys,omitempty"`

	// reasons select dead letters by reason, such as [DeadlineReached]. At most 9. Default: unset, all reasons. With keys, both must match.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=9
	// +optional
	Reasons []DeadReason `json:"reasons,omitempty"`

	// limit is how many dead letters are looked at at most, the oldest first; those that are refused count too. 1 to 1000.
	// Default 100.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:default=100
	// +optional
	Limit *int32 `json:"limit,omitempty"`

	// extendDeadline gives replayed reminders a new deadline, this long after the replay, such as 1h; an old one that is
	// later stands. It bounds every later attempt. 1s to 720h, and not longer than the dedupeWindow of a channel that
	// deduplicates. Default: unset, the old deadline stands, and reminders that are past it are refused. With action
	// Replay only.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="extendDeadline is a duration from 1s to 720h, such as 1h"
	// +optional
	ExtendDeadline *metav1.Duration `json:"extendDeadline,omitempty"`

	// reason says why, for those who look later, such as "SMS gateway was down, INC-2931". 1 to 1024 characters on one
	// line.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('[^[:cntrl:][:space:]]')",message="say in a few words why this is done"
	// +required
	Reason string `json:"reason,omitempty"`

	// perSecond is how many dead letters are replayed or discarded a second at most. 1 to 100. Default 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=10
	// +optional
	PerSecond *int32 `json:"perSecond,omitempty"`

	// dryRun only counts what would be replayed, discarded and refused. Default false.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`
}

// ReminderReplayStatus is how far the operation is.
type ReminderReplayStatus struct {
	// conditions of the replay: Succeeded, Unknown until it has ended; Ready, True once it has succeeded; Reconciling and
	// Stalled while they are True.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status speaks of.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matched is how many reminders the spec selects, at most limit: open dead letters, and of keys also those that are
	// none. Once the operation has ended it is the sum of replayed, discarded and refused.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Matched int64 `json:"matched"`

	// replayed is how many were put back to work; with dryRun, how many would be.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replayed int64 `json:"replayed"`

	// discarded is how many were closed; with dryRun, how many would be.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Discarded int64 `json:"discarded"`

	// refused counts by reason those that were left alone, such as DeadlineReached or NotDead.
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Refused []ReasonCount `json:"refused,omitempty"`

	// startTime is when the operation began, in UTC.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the operation ended, in UTC. Unset while it runs.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// ReminderReplay is one audited, bounded operation on the dead letters of a schedule. Deleting it while it runs stops it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rreplay,categories=reminders
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.scheduleName`,description="Whose dead letters"
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`,description="What is done with them"
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matched`,description="Dead letters that the spec selects"
// +kubebuilder:printcolumn:name="Replayed",type=integer,JSONPath=`.status.replayed`,description="Dead letters that were put back to work"
// +kubebuilder:printcolumn:name="Discarded",type=integer,JSONPath=`.status.discarded`,description="Dead letters that were closed"
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`,description="Unknown while it runs"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
// +kubebuilder:printcolumn:name="DryRun",type=boolean,priority=1,JSONPath=`.spec.dryRun`,description="Whether it only counts"
// +kubebuilder:printcolumn:name="Why",type=string,priority=1,JSONPath=`.spec.reason`,description="Why it was done"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`,description="How it ended"
type ReminderReplay struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted. It cannot be changed.
	// +required
	Spec ReminderReplaySpec `json:"spec,omitzero"`

	// status is what the operator observed; it writes it alone.
	// +optional
	Status ReminderReplayStatus `json:"status,omitempty"`
}

// ReminderReplayList is a list of ReminderReplays.
// +kubebuilder:object:root=true
type ReminderReplayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReminderReplay `json:"items"`
}
