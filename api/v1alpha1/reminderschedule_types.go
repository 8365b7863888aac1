package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CatchUpMode says what to do with occurrences that were missed.
// +kubebuilder:validation:Enum=None;Latest;All
type CatchUpMode string

// Values of CatchUpMode.
const (
	CatchUpNone   CatchUpMode = "None"
	CatchUpLatest CatchUpMode = "Latest"
	CatchUpAll    CatchUpMode = "All"
)

// Identity says what makes an occurrence the same one.
// +kubebuilder:validation:Enum=DueTime;BusinessDate
type Identity string

// Values of Identity.
const (
	IdentityDueTime      Identity = "DueTime"
	IdentityBusinessDate Identity = "BusinessDate"
)

// ReminderScheduleSpec says when a reminder falls due, to whom it goes, what it says and how hard to try.
// +kubebuilder:validation:XValidation:rule="(has(self.recipients) && size(self.recipients) > 0) || (has(self.recipientsFrom) && size(self.recipientsFrom) > 0)",message="name at least one recipient in recipients, or a source in recipientsFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.schedule.jitter) || !self.schedule.jitter.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') || (has(self.delivery) && has(self.delivery.deadlineTimeOfDay)) || (has(self.delivery) && has(self.delivery.deadline) && self.delivery.deadline.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') ? duration(self.schedule.jitter) <= duration(self.delivery.deadline) : duration(self.schedule.jitter) <= duration('4h'))",message="jitter must not be longer than delivery.deadline, which is 4h when it is not set",fieldPath=".schedule.jitter"
// +kubebuilder:validation:XValidation:rule="!has(self.ttlAfterFinished) || has(self.schedule.at) || has(self.schedule.endTime) || (has(self.schedule.rrule) && self.schedule.rrule.matches('(COUNT|UNTIL)='))",message="ttlAfterFinished is for schedules that end: those with at, with endTime, or with COUNT or UNTIL in rrule",fieldPath=".ttlAfterFinished"
type ReminderScheduleSpec struct {
	// schedule says when the reminders fall due.
	// +required
	Schedule ScheduleSpec `json:"schedule,omitempty"`

	// suspend stops planning and sending while it is true, such as during an incident. Reminders that are planned and
	// that no worker has claimed are cancelled with the reason Suspended; what falls due meanwhile is not planned, not
	// caught up and not counted as missed. Default false.
	// +kubebuilder:default=false
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// catchUp says what to do with occurrences that fell due while nothing was planned, because the operator or NATS was
	// down, or the spec or the calendar could not be used. Those that it does not take up are counted in
	// status.counts.missed. Default {policy: Latest, window: 1h, limit: 100}.
	// +optional
	CatchUp *CatchUpPolicy `json:"catchUp,omitempty"`

	// recipients are the addressees, for small audiences: at most 1000, with different ids. For more, and for addresses
	// that do not belong into this object, see recipientsFrom. One of the two is needed.
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Recipients []Recipient `json:"recipients,omitempty"`

	// recipientsFrom are further sources of recipients, at most 16, read anew when they change. Where an id comes twice, the
	// inline recipient wins, then the earlier source.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	RecipientsFrom []RecipientsSource `json:"recipientsFrom,omitempty"`

	// channelName is the ReminderChannel in the same namespace that takes the reminders, such as billing-email. 1 to 63
	// characters. It is part of a reminder's identity: an occurrence that moves to another channel is another reminder.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	ChannelName string `json:"channelName,omitempty"`

	// message is what the reminder says.
	// +required
	Message MessageSpec `json:"message,omitzero"`

	// delivery says how long and how hard to try.
	// +optional
	Delivery *DeliverySpec `json:"delivery,omitempty"`

	// identity says what makes an occurrence the same one after an edit: DueTime, its instant; BusinessDate, the local
	// date on which it takes place after a calendar has moved it, so that a recipient gets one reminder per date whatever
	// time of day it moves to. Of several occurrences on one date only the first counts. Default DueTime.
	// +kubebuilder:default=DueTime
	// +optional
	Identity Identity `json:"identity,omitempty"`

	// slo is the objective that compliance and error budget in status are measured against. Default: unset, none.
	// +optional
	SLO *SLOSpec `json:"slo,omitempty"`

	// ttlAfterFinished is how long after status.finishTime a schedule is deleted that has ended and has no open dead
	// letter, such as 24h. 0s to 8760h. Default: unset, never. Only for schedules that end.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('0s') && duration(self) <= duration('8760h')",message="ttlAfterFinished is a duration from 0s to 8760h, such as 24h"
	// +optional
	TTLAfterFinished *metav1.Duration `json:"ttlAfterFinished,omitempty"`
}

// CatchUpPolicy says which occurrences that were missed are taken up.
type CatchUpPolicy struct {
	// policy is None, take up nothing; Latest, the last one; All, the newest ones up to limit. Only those count that fell
	// due inside window and whose deadline, counted from the due time, has not passed. What is taken up is sent oldest
	// first, one a second to each recipient. Default Latest.
	// +kubebuilder:default=Latest
	// +optional
	Policy CatchUpMode `json:"policy,omitempty"`

	// window is how far to look back, such as 1h: what fell due longer ago is not taken up. 1m to 720h. Default 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1m') && duration(self) <= duration('720h')",message="window is a duration from 1m to 720h, such as 1h"
	// +kubebuilder:default="1h"
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`

	// limit is how many occurrences the policy All takes up at most, the newest, for each recipient; it says nothing to
	// None and Latest. 1 to 10000. Default 100.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +kubebuilder:default=100
	// +optional
	Limit *int32 `json:"limit,omitempty"`
}

// SLOSpec is a service level objective: that share of the reminders is accepted in time.
type SLOSpec struct {
	// objective is the percentage of due reminders that are accepted in time, as a string, such as "99.9". Above 0 and
	// below 100, at most four decimals.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=7
	// +kubebuilder:validation:Pattern=`^[0-9]{1,2}([.][0-9]{1,4})?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,2}([.][0-9]{1,4})?$') && double(self) > 0.0",message="objective is a percentage above 0 and below 100 with a decimal point, such as \"99.9\""
	// +required
	Objective string `json:"objective,omitempty"`

	// within is for how long after the due time, with the jitter of the reminder added, an acceptance is in time, such as
	// 5m. What is caught up is measured from its due time too. 1s to 720h. Default 5m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="within is a duration from 1s to 720h, such as 5m"
	// +kubebuilder:default="5m"
	// +optional
	Within *metav1.Duration `json:"within,omitempty"`

	// window is the length of time, up to now, that compliance and budget are taken over: whole days or hours, such as 30d
	// or 12h. 1h to 90d. Default 30d.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,3}[dh]$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([1-9]|[1-8][0-9]|90)d$') || self.matches('^([1-9][0-9]{0,2}|1[0-9]{3}|20[0-9]{2}|21[0-5][0-9]|2160)h$')",message="window is whole days or hours from 1h to 90d, such as 30d"
	// +kubebuilder:default="30d"
	// +optional
	Window string `json:"window,omitempty"`
}

// ReminderSchedule says when, to whom, what and how to remind, and shows how that goes.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rsched,categories=reminders
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule['cron','rrule','at','every','anchor']`,description="When the reminders fall due"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.timeZone`,description="The time zone in use"
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextDueTime`,description="The next due time, in UTC"
// +kubebuilder:printcolumn:name="Due",type=integer,JSONPath=`.status.counts.due`,description="Reminders that have fallen due"
// +kubebuilder:printcolumn:name="Sent",type=integer,JSONPath=`.status.counts.sent`,description="Reminders that the channel accepted"
// +kubebuilder:printcolumn:name="Dead",type=integer,JSONPath=`.status.counts.dead`,description="Open dead letters"
// +kubebuilder:printcolumn:name="SLO",type=string,JSONPath=`.status.slo.compliance`,description="Compliance over the SLO's window, in percent; empty without data"
// +kubebuilder:printcolumn:name="Budget",type=string,JSONPath=`.status.slo.errorBudgetRemaining`,description="What is left of the error budget, in percent"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the schedule does what its spec says"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
// +kubebuilder:printcolumn:name="Last",type=string,priority=1,JSONPath=`.status.lastDueTime`,description="The last due time, in UTC"
// +kubebuilder:printcolumn:name="Late",type=integer,priority=1,JSONPath=`.status.counts.sentLate`,description="Reminders that were accepted late"
// +kubebuilder:printcolumn:name="Missed",type=integer,priority=1,JSONPath=`.status.counts.missed`,description="Reminders that were never planned and fell due"
// +kubebuilder:printcolumn:name="Suppressed",type=integer,priority=1,JSONPath=`.status.counts.suppressed`,description="Duplicates that were not sent"
// +kubebuilder:printcolumn:name="Pending",type=integer,priority=1,JSONPath=`.status.counts.pending`,description="Planned reminders without an outcome"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the schedule is ready or not"
type ReminderSchedule struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object. Its namespace and name are part of the identity of each reminder:
	// deleting and creating a schedule anew reminds nobody twice.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec ReminderScheduleSpec `json:"spec,omitzero"`

	// status is what the operator observed; it writes it alone.
	// +optional
	Status ReminderScheduleStatus `json:"status,omitempty"`
}

// ReminderScheduleList is a list of ReminderSchedules.
// +kubebuilder:object:root=true
type ReminderScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReminderSchedule `json:"items"`
}
