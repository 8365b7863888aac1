package reminder

// Reason says why a reminder is Dead or Cancelled. The same words stand in the
// ledger, in dead letters, in status and in docs/reasons.md.
type Reason string

// Reasons of Dead.
const (
	// RetryBudgetExhausted: every allowed submission was answered Transient.
	RetryBudgetExhausted Reason = "RetryBudgetExhausted"
	// DeadlineReached: no attempt could start before the deadline.
	DeadlineReached Reason = "DeadlineReached"
	// PermanentFailure: the channel refused the reminder for good.
	PermanentFailure Reason = "PermanentFailure"
	// InvalidRecipient: the channel does not know or cannot use the address.
	InvalidRecipient Reason = "InvalidRecipient"
	// EndpointGone: the receiver answered that the endpoint is gone (HTTP 410).
	EndpointGone Reason = "EndpointGone"
	// InvalidMessage: the message could not be rendered for this recipient.
	InvalidMessage Reason = "InvalidMessage"
	// InvalidEligibility: delivery.eligibility could not be evaluated for this
	// recipient, such as for want of an attribute.
	InvalidEligibility Reason = "InvalidEligibility"
	// ReconciliationRequired: the channel may have accepted the reminder and
	// cannot deduplicate; a person must find out.
	ReconciliationRequired Reason = "ReconciliationRequired"
	// Poison: workers died again and again while they held the reminder.
	Poison Reason = "Poison"
	// InvalidJob: a due job could not be read. Only dead letters carry it: the
	// ledger's record, if there is one, stands and is published anew.
	InvalidJob Reason = "InvalidJob"
)

// Reasons of Cancelled.
const (
	// Suspended: the schedule was suspended before the claim.
	Suspended Reason = "Suspended"
	// Superseded: an edit of the schedule's time fields replaced the occurrence.
	Superseded Reason = "Superseded"
	// RecipientInactive: the recipient is inactive or no longer in the audience.
	RecipientInactive Reason = "RecipientInactive"
	// NotEligible: delivery.eligibility yielded false, or eligibilityURL said no.
	NotEligible Reason = "NotEligible"
	// ScheduleDeleted: the schedule was deleted before the claim.
	ScheduleDeleted Reason = "ScheduleDeleted"
)

// Reasons of refused replays. Some of those above are used too: DeadlineReached, ReconciliationRequired,
// Superseded, Suspended and ScheduleDeleted.
const (
	// NotDead: the reminder is no dead letter, or no longer; it waits, is in flight, was cancelled or discarded.
	NotDead Reason = "NotDead"
	// AlreadySent: the channel has accepted the reminder.
	AlreadySent Reason = "AlreadySent"
	// ReplayBudgetExhausted: the reminder was replayed five times already.
	ReplayBudgetExhausted Reason = "ReplayBudgetExhausted"
	// OtherSchedule: the key is one of another schedule.
	OtherSchedule Reason = "OtherSchedule"
	// UnknownKey: no reminder has the key, or its record is no longer kept.
	UnknownKey Reason = "UnknownKey"
)

// Owner is who can fix what made a reminder dead; dead letters are routed by it.
type Owner string

// Owners of dead letters.
const (
	// OwnerData: addresses, attributes or messages; the team that owns the data.
	OwnerData Owner = "data"
	// OwnerCapacity: too slow or unreachable; the platform team.
	OwnerCapacity Owner = "capacity"
	// OwnerPolicy: the receiver or the policy refused; the schedule's owner.
	OwnerPolicy Owner = "policy"
	// OwnerReconcile: the outcome is unknown; a person compares with the receiver.
	OwnerReconcile Owner = "reconcile"
)

// OwnerOf routes a dead reminder by its reason.
func OwnerOf(r Reason) Owner {
	switch r {
	case InvalidRecipient, InvalidMessage, InvalidEligibility, InvalidJob, Poison:
		return OwnerData
	case RetryBudgetExhausted, DeadlineReached:
		return OwnerCapacity
	case ReconciliationRequired:
		return OwnerReconcile
	default:
		return OwnerPolicy
	}
}
