package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HTTPMethod is the method of a request that sends a reminder.
// +kubebuilder:validation:Enum=POST;PUT
type HTTPMethod string

// Values of HTTPMethod.
const (
	MethodPost HTTPMethod = "POST"
	MethodPut  HTTPMethod = "PUT"
)

// HTTPChannel is an HTTP endpoint. The body of a request is JSON with the reminder in it, the headers are those of
// CloudEvents and of Standard Webhooks; see docs/reminderchannel.md.
type HTTPChannel struct {
	// url is where reminders are sent, such as https://notify.example.com/reminders. http or https, at most 2048
	// characters, without user name, password and fragment. Not an address of the cluster's own metadata service or API,
	// and no address in disguise; one that is not public only where an administrator allowed it. Redirects are not
	// followed.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\x00-\x20\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="!self.contains('#')",message="url has no fragment: leave out # and what follows"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^[a-z]+://([0-9]+|0x[0-9a-f.x]+|169[.]254[.][0-9.]+|\\\\[::ffff:.*|\\\\[fe80:.*|kubernetes([.]default([.]svc([.].*)?)?)?|metadata([.]google[.]internal)?)([:/?]|$)')",message="url names the cluster's own metadata service or API, or an address in disguise: name the receiver's host"
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://') && isURL(self) && url(self).getHostname() != ''",message="url is an absolute http or https URL with a host, such as https://notify.example.com/reminders"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*@')",message="url holds no user name or password: put credentials in the Secret"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/?#]*:(0*|0*[1-9][0-9]{5,}|6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4})([/?#]|$)')",message="the port of url is a number from 1 to 65535"
	// +required
	URL string `json:"url,omitempty"`

	// method is POST or PUT. Default POST.
	// +kubebuilder:default=POST
	// +optional
	Method HTTPMethod `json:"method,omitempty"`

	// headers are sent with each request, at most 32, with different names. They are no place for credentials: those go
	// into the Secret.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name.lowerAscii() == b.name.lowerAscii()))",message="a header is named once: names that differ by case only are the same"
	// +optional
	Headers []HTTPHeader `json:"headers,omitempty"`

	// secretName is the Secret in the same namespace with the keys that sign each request: signingKey, of at least 24
	// bytes in base64 with or without the prefix whsec_, and previousSigningKey during a rotation. Each of its keys
	// header.<name>, such as header.Authorization, is sent as a header, at most 32. 1 to 253 characters. Default: unset,
	// requests are not signed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// timeout bounds one request, from dialling to the end of the answer, such as 10s. 100ms to 60s. Default 10s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('100ms') && duration(self) <= duration('60s')",message="timeout is a duration from 100ms to 60s, such as 10s"
	// +kubebuilder:default="10s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// successCodes are the status codes that mean accepted, such as [200, 202]. Each 200 to 299, at most 32. Default: all
	// of 200 to 299.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=299
	// +optional
	SuccessCodes []int32 `json:"successCodes,omitempty"`
}

// HTTPHeader is one header with a fixed value.
type HTTPHeader struct {
	// name is the name of the header, such as X-Team. 1 to 128 characters of a token. Names that the operator writes itself
	// are reserved: Idempotency-Key, webhook-*, ce-*, Content-Type and others; and those that hold credentials.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$')",message="put credentials in the Secret that secretName names, not in a header"
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^(idempotency-key|webhook-.*|ce-.*|content-length|content-type|content-encoding|accept-encoding|user-agent|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|traceparent|tracestate)$') || self.matches('(?i)^proxy-authorization$')",message="the operator writes this header itself: Idempotency-Key, webhook-*, ce-*, Content-Length, Content-Type, Host and those of the connection are reserved"
	// +required
	Name string `json:"name,omitempty"`

	// value is the value of the header, such as billing. 1 to 2048 characters without control characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:]]+$')",message="a value is one line: line breaks and other control characters are not allowed"
	// +required
	Value string `json:"value,omitempty"`
}

// SMTPTLS says whether the connection to a mail relay is encrypted.
// +kubebuilder:validation:Enum=Require;Opportunistic;None
type SMTPTLS string

// Values of SMTPTLS.
const (
	SMTPTLSRequire       SMTPTLS = "Require"
	SMTPTLSOpportunistic SMTPTLS = "Opportunistic"
	SMTPTLSNone          SMTPTLS = "None"
)

// SMTPChannel is a mail relay.
// +kubebuilder:validation:XValidation:rule="!has(self.secretName) || !has(self.tls) || self.tls == 'Require'",message="tls must be Require when secretName is set: a password is not sent in the clear",fieldPath=".tls"
type SMTPChannel struct {
	// host is the name or address of the relay, such as smtp.example.com. 1 to 253 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9:]([A-Za-z0-9:._-]*[A-Za-z0-9])?$`
	// +required
	Host string `json:"host,omitempty"`

	// port is the port of the relay, such as 587; on 465 the connection is encrypted from its start. 1 to 65535. Default
	// 587.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:default=587
	// +optional
	Port *int32 `json:"port,omitempty"`

	// tls is Require, send over TLS only, to a relay whose certificate is valid; Opportunistic, use STARTTLS where the relay
	// offers it, with any certificate; None, no STARTTLS. Default Require.
	// +kubebuilder:default=Require
	// +optional
	TLS SMTPTLS `json:"tls,omitempty"`

	// from is the sender, an e-mail address such as billing@example.com. 3 to 254 characters.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:Pattern=`^[^@\x00-\x20\x7f<>,;:"()\[\]\\.]+([.][^@\x00-\x20\x7f<>,;:"()\[\]\\.]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^@[:cntrl:] <>,;]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$')",message="from is one bare e-mail address, such as billing@example.com"
	// +required
	From string `json:"from,omitempty"`

	// secretName is the Secret in the same namespace that holds username and password. 1 to 253 characters. Default: unset,
	// the relay asks for none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// timeout bounds one mail, from dialling to the relay's answer, such as 30s. 1s to 60s. Default 30s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}h|[0-9]{1,7}m|[0-9]{1,8}([.][0-9]{1,9})?m?s){1,3}$') && duration(self) >= duration('1s') && duration(self) <= duration('60s')",message="timeout is a duration from 1s to 60s, such as 30s"
	// +kubebuilder:default="30s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// NATSChannel is a subject on the operator's NATS.
type NATSChannel struct {
	// subject is where reminders are published, such as billing.reminders. A stream must take it, or nothing is accepted.
	// 1 to 255 characters: tokens with dots between them, no wildcards. Subjects that begin with reminders, $ or _ are
	// reserved.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^\x00-\x20\x7f.*>]+([.][^\x00-\x20\x7f.*>]+)*$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:] .*>]+([.][^[:cntrl:] .*>]+)*$')",message="subject is tokens with dots between them, without blanks and the wildcards * and >, such as billing.reminders"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([$_]|reminders([.]|$))')",message="subjects that begin with reminders, $ or _ are reserved"
	// +required
	Subject string `json:"subject,omitempty"`
}

// LogChannel writes a line to the worker's log instead of sending anything.
type LogChannel struct{}
