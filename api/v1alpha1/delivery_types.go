package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// OnUnknown says what becomes of a reminder that a channel without deduplication may or may not have accepted.
// +kubebuilder:validation:Enum=Retry;Park
type OnUnknown string

// Values of OnUnknown; there is no third.
const (
	OnUnknownRetry OnUnknown = "Retry"
	OnUnknownPark  OnUnknown = "Park"
)

// MessageSpec is what a reminder says. Between {{ and }} stands CEL over recipient, reminder and schedule.
type MessageSpec struct {
	// subject is one line, such as "Your plan renews on {{ recipient.attributes.renewalDate }}". At most 1024 characters
	// without control characters. Default: empty; an SMTP channel needs one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:]]+$')",message="subject is one line: line breaks and other control characters are not allowed"
	// +optional
	Subject string `json:"subject,omitempty"`

	// body is the text, such as "Hello {{ recipient.attributes.name }}, …". 1 to 65536 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:Pattern=`^[^\x00]+$`
	// +required
	Body string `json:"body,omitempty"`

	// html is the same in HTML, such as "<p>Hello {{ recipient.attributes.name }}</p>", for channels that can show it: a mail
	// then has both, and HTTP and NATS get it as data.html. Values are escaped for the place where they stand; an expression
	// in a script, a style, an event's attribute, an attribute without quotes, a comment or a tag is refused, and a URL must
	// begin with https://, http:// or mailto:. Comments are left out. 1 to 65536 characters. Default: unset, text alone.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:Pattern=`^[^\x00]+$`
	// +optional
	HTML string `json:"html,omitempty"`

	// unsubscribeURL is where a recipient ends further reminders, such as
	// "https://example.com/leave?u={{ recipient.attributes.token }}" or "mailto:leave@example.com": a mail has it as
	// List-Unsubscribe, and with https as one click (RFC 8058), for which the receiver of that POST must do without a login;
	// HTTP and NATS get it as data.unsubscribeURL. Values are percent-encoded, but for one at the very beginning. 1 to 1024
	// characters; 900 bytes once it is rendered. Default: unset, none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	UnsubscribeURL string `json:"unsubscribeURL,omitempty"`
}

// DeliverySpec says how long and how hard to try.
// +kubebuilder:validation:XValidation:rule="!has(self.deadline) || !has(self.deadlineTimeOfDay)",message="set deadline or deadlineTimeOfDay, not both"
type DeliverySpec struct {
	// deadline is for how long after the due time a reminder may be sent, such as 4h: no attempt starts later, a replay
	// included. Neither jitter nor catching up makes it longer. 1s to 720h. Default 4h, where deadlineTimeOfDay is not
	// set.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="deadline is a duration from 1s to 720h, such as 4h"
	// +optional
	Deadline *metav1.Duration `json:"deadline,omitempty"`

	// deadlineTimeOfDay is the local time of day, in the occurrence's zone, from which on a reminder is not sent any more,
	// such as "17:00": the first such time after the due time, so that what is due at 17:00 has a day. A time that the
	// clocks skip is read with the offset from before; of one that they show twice the next one counts. 00:00 to 23:59.
	// Default: unset; see deadline.
	// +kubebuilder:validation:MinLength=5
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	// +optional
	DeadlineTimeOfDay string `json:"deadlineTimeOfDay,omitempty"`

	// retry says when to try again after a failure that may pass. Default {attempts: 5, initialDelay: 30s, factor: 2,
	// maxDelay: 15m}.
	// +optional
	Retry *RetrySpec `json:"retry,omitempty"`

	// onUnknown says what becomes of a reminder that may or may not have been accepted, on a channel with idempotency
	// None: Retry sends again and may repeat; Park never repeats and leaves a dead letter for a person. Default Park. Not
	// with a channel that deduplicates, where sending again is harmless.
	// +optional
	OnUnknown OnUnknown `json:"onUnknown,omitempty"`

	// eligibility is CEL that says whether a reminder is still wanted, such as recipient.attributes.status == 'active', over
	// the names that messages have. It is evaluated again at each attempt, with the recipient as it is then; false cancels
	// the reminder with the reason NotEligible. Where it cannot be evaluated, such as for want of an attribute, the reminder
	// of that recipient is dead with the reason InvalidEligibility, and not sent. 1 to 2048 characters. Default: unset,
	// always wanted.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^[^\x00]+$`
	// +optional
	Eligibility string `json:"eligibility,omitempty"`

	// eligibilityURL is asked by GET before each attempt: 2xx means go; 404, 409 and 410 cancel the reminder with the reason
	// NotEligible; anything else is tried again until the deadline, with the waits of retry and Retry-After, which costs no
	// attempt. The reminder is named by the query parameters reminderKey and recipientId, which are added to those of the
	// URL, and by the header Idempotency-Key; its address is not told. Redirects are not followed, and an answer may take
	// as long as one of the channel, at most 10s. Headers and signature of the channel's Secret go with it only where
	// scheme, host and port are those of the channel's http.url. An http or https URL of at most 2048 characters, such as
	// https://billing.example.com/eligible. Default: unset, nobody is asked.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\x00-\x20\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://') && isURL(self) && url(self).getHostname() != ''",message="eligibilityURL is an absolute http or https URL with a host, such as https://notify.example.com/reminders"
	// +kubebuilder:validation:XValidation:rule="!self.contains('#')",message="eligibilityURL has no fragment: leave out # and what follows"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^[a-z]+://([0-9]+|0x[0-9a-f.x]+|169[.]254[.][0-9.]+|\\\\[::ffff:.*|\\\\[fe80:.*|kubernetes([.]default([.]svc([.].*)?)?)?|metadata([.]google[.]internal)?)([:/?]|$)')",message="eligibilityURL names the cluster's own metadata service or API, or an address in disguise: name the host that is to be asked"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*@')",message="eligibilityURL holds no user name or password: leave them out; the channel's Secret goes with it where it is the channel's own host"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*:(0*|0*[1-9][0-9]{5,}|6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4})([/?#]|$)')",message="the port of eligibilityURL is a number from 1 to 65535"
	// +optional
	EligibilityURL string `json:"eligibilityURL,omitempty"`
}

// RetrySpec is exponential backoff, or a list of delays. All of it ends at the deadline.
// +kubebuilder:validation:XValidation:rule="!has(self.delays) || !(has(self.initialDelay) || has(self.factor) || has(self.maxDelay))",message="set delays, or initialDelay, factor and maxDelay, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.initialDelay) || !has(self.maxDelay) || !self.initialDelay.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') || !self.maxDelay.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms))+$') || duration(self.initialDelay) <= duration(self.maxDelay)",message="maxDelay must not be shorter than initialDelay",fieldPath=".maxDelay"
type RetrySpec struct {
	// attempts is how many times a reminder is submitted to the channel at most, the first time included. 1 to 50. Default
	// 5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +kubebuilder:default=5
	// +optional
	Attempts *int32 `json:"attempts,omitempty"`

	// initialDelay is the longest wait before the second attempt, such as 30s; the following ones grow by factor. The
	// wait itself is a random share of that, so that reminders that failed together do not come back together. 1s to
	// 24h. Default 30s, where delays is not set.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="initialDelay is a duration from 1s to 24h, such as 30s"
	// +optional
	InitialDelay *metav1.Duration `json:"initialDelay,omitempty"`

	// factor is what each wait is multiplied by: a whole number such as 2, or a decimal in quotes such as "1.5". 1 to 10.
	// Default 2, where delays is not set.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? (int(self) >= 1 && int(self) <= 10) : string(self).matches('^([1-9]([.][0-9]{1,3})?|10([.]0{1,3})?)$')",message="factor is a number from 1 to 10: a whole one such as 2, or a decimal in quotes such as \"1.5\""
	// +optional
	Factor *intstr.IntOrString `json:"factor,omitempty"`

	// maxDelay bounds each wait, such as 15m. 1s to 24h, not shorter than initialDelay. Default 15m, or initialDelay where
	// that is longer; where delays is not set.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="maxDelay is a duration from 1s to 24h, such as 15m"
	// +optional
	MaxDelay *metav1.Duration `json:"maxDelay,omitempty"`

	// delays are the waits before the second, third … attempt, instead of the three fields above, such as [5m, 10m]; the
	// last one repeats. 1 to 49 of them, each 1s to 24h. Default: unset.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=49
	// +kubebuilder:validation:items:Type=string
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=32
	// +kubebuilder:validation:items:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="a delay is a duration from 1s to 24h, such as 5m"
	// +optional
	Delays []metav1.Duration `json:"delays,omitempty"`
}
