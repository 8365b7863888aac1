package v1alpha1

// Recipient is one addressee.
type Recipient struct {
	// id identifies the recipient in keys, logs and dead letters, such as acct_4821. 1 to 253 characters without control
	// characters, compared byte by byte. It should name an account, not a person: it is not kept secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:]]+$')",message="an id is 1 to 253 characters without line breaks and other control characters, such as acct_4821"
	// +required
	ID string `json:"id,omitempty"`

	// address is where the channel sends to: an e-mail address on an SMTP channel, whatever the receiver understands on
	// others. 1 to 2048 characters without control characters. It never becomes a URL, and never shows in status or logs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^[:cntrl:]]+$')",message="an address is 1 to 2048 characters without line breaks and other control characters"
	// +required
	Address string `json:"address,omitempty"`

	// timeZone is the recipient's zone, a name of the IANA time zone database such as Europe/Paris, for schedules with
	// timeZoneFrom Recipient. 1 to 64 characters. A recipient with a name that the database lacks has no occurrence
	// there. Default: the schedule's.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && !self.matches('^(UTC|GMT|UT)[+-]0*[1-9]') && !(self in ['Local', 'localtime', 'Factory', 'posixrules'])",message="timeZone is a name of the IANA time zone database, such as Europe/Berlin or UTC: no offset, no blanks, not Local"
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// attributes are what messages, eligibility and anchor may read of the recipient, such as {name: Ada, renewalDate:
	// "2026-11-03"}. At most 64, names of 1 to 63 characters, values of at most 1024.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) >= 1 && size(name) <= 63 && size(self[name]) <= 1024)",message="an attribute has a name of 1 to 63 characters and a value of at most 1024"
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// active is whether the recipient is reminded; false cancels planned reminders with the reason RecipientInactive.
	// Default true.
	// +kubebuilder:default=true
	// +optional
	Active *bool `json:"active,omitempty"`
}

// RecipientsSource is one source of recipients. Exactly one of its members is set.
// +kubebuilder:validation:XValidation:rule="[has(self.configMapRef), has(self.secretRef), has(self.bucketRef)].filter(x, x).size() == 1",message="set exactly one of configMapRef, secretRef and bucketRef"
// +kubebuilder:validation:XValidation:rule="!has(self.bucketRef) || (self.bucketRef.name.matches('^[A-Za-z0-9_-]+$') && !self.bucketRef.name.startsWith('reminders-'))",message="a bucket has a name of letters, digits, - and _, and does not begin with reminders-, which is for the operator's own",fieldPath=".bucketRef"
type RecipientsSource struct {
	// configMapRef names a ConfigMap in the same namespace with one recipient per entry: the key is the id, the value the
	// recipient as JSON or YAML.
	// +optional
	ConfigMapRef *LocalRef `json:"configMapRef,omitempty"`

	// secretRef names a Secret in the same namespace with one recipient per entry, as in configMapRef.
	// +optional
	SecretRef *LocalRef `json:"secretRef,omitempty"`

	// bucketRef names a NATS key-value bucket that the application owns, with one recipient per entry as JSON. The operator
	// only reads it. Any number of recipients.
	// +optional
	BucketRef *LocalRef `json:"bucketRef,omitempty"`
}

// LocalRef names an object in the same namespace, or a bucket.
type LocalRef struct {
	// name is the name of the object, such as billing-contacts. 1 to 253 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`
}
