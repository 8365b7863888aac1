package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChannelType is the kind of a channel.
// +kubebuilder:validation:Enum=HTTP;SMTP;NATS;Log
type ChannelType string

// Values of ChannelType.
const (
	ChannelTypeHTTP ChannelType = "HTTP"
	ChannelTypeSMTP ChannelType = "SMTP"
	ChannelTypeNATS ChannelType = "NATS"
	ChannelTypeLog  ChannelType = "Log"
)

// Idempotency says whether the receiver recognises a reminder that it has had before.
// +kubebuilder:validation:Enum=ByKey;None
type Idempotency string

// Values of Idempotency.
const (
	IdempotencyByKey Idempotency = "ByKey"
	IdempotencyNone  Idempotency = "None"
)

// ReminderChannelSpec says where reminders go and how fast. Exactly the member that type names is set.
// +kubebuilder:validation:XValidation:rule="(self.type == 'HTTP') == has(self.http) && (self.type == 'SMTP') == has(self.smtp) && (self.type == 'NATS') == has(self.nats) && (self.type == 'Log') == has(self.log)",message="set exactly the member that type names: http for HTTP, smtp for SMTP, nats for NATS, log (which may be {}) for Log"
// +kubebuilder:validation:XValidation:rule="self.type != 'HTTP' || has(self.idempotency)",message="say whether the receiver deduplicates on the Idempotency-Key header: ByKey if it does, None if it does not; it is not assumed",fieldPath=".idempotency",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="self.type != 'SMTP' || !has(self.idempotency) || self.idempotency == 'None'",message="mail relays do not deduplicate: leave idempotency out or write None",fieldPath=".idempotency"
// +kubebuilder:validation:XValidation:rule="!has(self.dedupeWindow) || (has(self.idempotency) ? self.idempotency == 'ByKey' : self.type in ['NATS', 'Log'])",message="dedupeWindow goes with idempotency ByKey only",fieldPath=".dedupeWindow"
// +kubebuilder:validation:XValidation:rule="!has(self.reconcileURL) || self.type == 'HTTP'",message="reconcileURL goes with type HTTP only",fieldPath=".reconcileURL"
type ReminderChannelSpec struct {
	// type is the kind of the channel: HTTP, an endpoint; SMTP, a mail relay; NATS, a subject; Log, a line in the worker's
	// log, for trials.
	// +required
	Type ChannelType `json:"type,omitempty"`

	// http says how to reach the endpoint. With type HTTP only.
	// +optional
	HTTP *HTTPChannel `json:"http,omitempty"`

	// smtp says how to reach the mail relay. With type SMTP only.
	// +optional
	SMTP *SMTPChannel `json:"smtp,omitempty"`

	// nats says which subject to publish to. With type NATS only.
	// +optional
	NATS *NATSChannel `json:"nats,omitempty"`

	// log has no fields yet: write {}. With type Log only.
	// +optional
	Log *LogChannel `json:"log,omitempty"`

	// idempotency is whether the receiver deduplicates on the reminder's key: ByKey, so that sending again is harmless; None,
	// so that an unknown outcome needs delivery.onUnknown of the schedule. Required with HTTP, where it is not assumed.
	// Default ByKey with NATS and Log, None with SMTP.
	// +optional
	Idempotency Idempotency `json:"idempotency,omitempty"`

	// dedupeWindow is for how long the receiver remembers a key, such as 24h. It must be longer than the schedules'
	// deadlines. 1m to 8760h. Default 24h. On a NATS channel the stream that takes the subject must
	// have a duplicate window of at least this length. With ByKey only.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="dedupeWindow is a duration from 1m to 8760h, such as 24h"
	// +optional
	DedupeWindow *metav1.Duration `json:"dedupeWindow,omitempty"`

	// reconcileURL is asked by GET with the reminder's key in the header Idempotency-Key, and in the query parameters
	// reminderKey and recipientId, before a reminder is left to a person because it may have been accepted: 2xx means
	// accepted, and it is sent; 404 means not, and it is tried again with the same key; anything else leaves it as
	// ReconciliationRequired. A 404 is believed once 2.5 times http.timeout and 2s have passed since the submission, and
	// must be final then. Headers and signature of the channel's Secret go with it; redirects are not followed, and an
	// answer may take as long as http.timeout, at most 10s. An http or https URL of at most 2048 characters, such as
	// https://notify.example.com/seen. Default: unset, nobody is asked. With type HTTP only.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\x00-\x20\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://') && isURL(self) && url(self).getHostname() != ''",message="reconcileURL is an absolute http or https URL with a host, such as https://notify.example.com/reminders"
	// +kubebuilder:validation:XValidation:rule="!self.contains('#')",message="reconcileURL has no fragment: leave out # and what follows"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^[a-z]+://([0-9]+|0x[0-9a-f.x]+|169[.]254[.][0-9.]+|\\\\[::ffff:.*|\\\\[fe80:.*|kubernetes([.]default([.]svc([.].*)?)?)?|metadata([.]google[.]internal)?)([:/?]|$)')",message="reconcileURL names the cluster's own metadata service or API, or an address in disguise: name the receiver's host"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*@')",message="reconcileURL holds no user name or password: put credentials in the Secret"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*:(0*|0*[1-9][0-9]{5,}|6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4})([/?#]|$)')",message="the port of reconcileURL is a number from 1 to 65535"
	// +optional
	ReconcileURL string `json:"reconcileURL,omitempty"`

	// rateLimit bounds the sends per second of the whole channel; live workers share it equally. Retries and trials of a
	// paused channel count. Default: unset, no bound.
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`

	// maxInFlightPerTenant bounds the sends under way for one tenant, so that one cannot hold up the others; live workers
	// share it, and each may have at least one. The tenant is the recipient's attribute "tenant", else the namespace. With
	// it, tenants take turns within a schedule as well. 1 to 10000, such as 20. Default: unset, no bound.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MaxInFlightPerTenant *int32 `json:"maxInFlightPerTenant,omitempty"`

	// workers says how many pods send, and how much each does at a time.
	// +optional
	Workers *WorkersSpec `json:"workers,omitempty"`
}

// RateLimit is a token bucket.
type RateLimit struct {
	// perSecond is how many sends a second are allowed over time, such as 50. 1 to 100000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +required
	PerSecond int32 `json:"perSecond,omitempty"`

	// burst is how many sends may start at once after a pause, such as 100. 1 to 100000. Default: as many as perSecond.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	Burst int32 `json:"burst,omitempty"`
}

// WorkersSpec says how many workers a channel has: a fixed number, or as many as the reminders ahead need.
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !(has(self.minReplicas) || has(self.maxReplicas) || has(self.drainWithin))",message="set replicas, or minReplicas, maxReplicas and drainWithin, not both"
// +kubebuilder:validation:XValidation:rule="has(self.maxReplicas) || !(has(self.minReplicas) || has(self.drainWithin))",message="minReplicas and drainWithin need maxReplicas",fieldPath=".maxReplicas",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="maxReplicas must not be less than minReplicas",fieldPath=".maxReplicas"
type WorkersSpec struct {
	// replicas is the number of worker pods, such as 2; 0 stops the channel, and due reminders wait. 0 to 100. Default 1,
	// where maxReplicas is not set.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// minReplicas is the number of worker pods that stay when nothing is ahead. 0 to 100, not more than maxReplicas.
	// Default 1. It needs maxReplicas.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the largest number of worker pods; between the two the operator scales ahead of what falls due. 1 to
	// 100. Default: unset, replicas counts.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// drainWithin is how soon after the due time a burst is to be through, such as 2m. 10s to 24h. Default 2m. It needs
	// maxReplicas.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",message="drainWithin is a duration from 10s to 24h, such as 2m"
	// +optional
	DrainWithin *metav1.Duration `json:"drainWithin,omitempty"`

	// concurrency is how many reminders one worker has in flight at most. 1 to 1024. Default 32.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	// +kubebuilder:default=32
	// +optional
	Concurrency *int32 `json:"concurrency,omitempty"`

	// resources are the requests and limits of the worker's container, such as {requests: {cpu: 100m, memory: 64Mi}}.
	// Default: none.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ReminderChannelStatus is what the operator observed of a channel and its workers.
type ReminderChannelStatus struct {
	// conditions of the channel: Ready; Reconciling and Stalled while they are True; WorkersAvailable.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status speaks of.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// workers is the number of live workers, by their heartbeats.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Workers int32 `json:"workers"`

	// desiredWorkers is the number of workers that the spec and what is ahead ask for.
	// +kubebuilder:validation:Minimum=0
	// +optional
	DesiredWorkers int32 `json:"desiredWorkers"`

	// backlog is the number of due reminders that no worker has in hand: not fetched, waiting for their turn, or given back.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Backlog int64 `json:"backlog"`

	// inFlight is the number of reminders that the live workers have in hand.
	// +kubebuilder:validation:Minimum=0
	// +optional
	InFlight int64 `json:"inFlight"`

	// oldestDueAge is for how long the oldest due reminder without an outcome has been waiting, such as 3m12s. Unset when
	// none waits.
	// +kubebuilder:validation:Type=string
	// +optional
	OldestDueAge *metav1.Duration `json:"oldestDueAge,omitempty"`

	// saturation is inFlight as a percentage of what the live workers can have in hand, which is less than workers.concurrency
	// each while the receiver is overloaded. 0 to 100. Unset without workers.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	Saturation *int32 `json:"saturation,omitempty"`

	// throttled is how many times a send waited for rateLimit or maxInFlightPerTenant, as the live workers count it.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Throttled int64 `json:"throttled"`

	// pausedUntilTime is when the first worker tries the channel again, in UTC: the receiver refused the channel itself, failed
	// many times in a row, is gone, or asked for a pause. Unset when it is not paused.
	// +optional
	PausedUntilTime *metav1.Time `json:"pausedUntilTime,omitempty"`

	// deploymentName is the Deployment of the workers, in the operator's namespace.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DeploymentName string `json:"deploymentName,omitempty"`
}

// ReminderChannel is a way for reminders to go out, with the workers that send them.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rchan,categories=reminders
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name of a ReminderChannel has at most 63 characters",fieldPath=".metadata"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`,description="The kind of the channel"
// +kubebuilder:printcolumn:name="Workers",type=integer,JSONPath=`.status.workers`,description="Live workers"
// +kubebuilder:printcolumn:name="Backlog",type=integer,JSONPath=`.status.backlog`,description="Due reminders that no worker has in hand"
// +kubebuilder:printcolumn:name="InFlight",type=integer,JSONPath=`.status.inFlight`,description="Reminders being sent"
// +kubebuilder:printcolumn:name="Oldest",type=string,JSONPath=`.status.oldestDueAge`,description="For how long the oldest due reminder has been waiting"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the channel can send"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
// +kubebuilder:printcolumn:name="Idempotency",type=string,priority=1,JSONPath=`.spec.idempotency`,description="Whether the receiver deduplicates"
// +kubebuilder:printcolumn:name="Saturation",type=integer,priority=1,JSONPath=`.status.saturation`,description="Use of the workers, in percent"
// +kubebuilder:printcolumn:name="Throttled",type=integer,priority=1,JSONPath=`.status.throttled`,description="Sends that waited for a limit"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the channel is ready or not"
type ReminderChannel struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object. Its name has at most 63 characters and is part of the identity of
	// each reminder.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec ReminderChannelSpec `json:"spec,omitzero"`

	// status is what the operator observed; it writes it alone.
	// +optional
	Status ReminderChannelStatus `json:"status,omitempty"`
}

// ReminderChannelList is a list of ReminderChannels.
// +kubebuilder:object:root=true
type ReminderChannelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReminderChannel `json:"items"`
}
