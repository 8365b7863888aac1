package convert

import (
	"fmt"

	"github.com/reminder-operator/reminder-operator/api/v1alpha1"
	"github.com/reminder-operator/reminder-operator/internal/message"
	"github.com/reminder-operator/reminder-operator/internal/reminder"
)

// Eligibility compiles spec.delivery.eligibility once, so that a mistake is found
// before anything falls due. Its error carries the field's path, the place and the
// remedy.
func Eligibility(obj *v1alpha1.ReminderSchedule) error {
	rule, _ := eligibilityOf(obj.Spec.Delivery)
	if rule == "" {
		return nil
	}
	if _, err := message.CompileCondition(rule); err != nil {
		return fmt.Errorf("spec.delivery.eligibility: %w", err)
	}
	return nil
}

// eligibilityOf are the rules that say whether a reminder is still wanted; empty
// for none.
func eligibilityOf(d *v1alpha1.DeliverySpec) (string, reminder.Endpoint) {
	if d == nil {
		return "", ""
	}
	return d.Eligibility, reminder.Endpoint(d.EligibilityURL)
}
