// Package v1alpha1 has the types of the group reminders.dev, version v1alpha1:
//
//	ReminderSchedule   when a reminder falls due, to whom, what it says, and how hard to try
//	ReminderChannel    the way out: an HTTP endpoint, a mail relay, a NATS subject
//	BusinessCalendar   which days are business days
//	ReminderReplay     one audited operation on dead letters
//
// It has no behaviour. What a field means stands in its comment, which kubectl
// explain shows; what a value may be stands in the markers, which the API
// server enforces. Where a default depends on other fields it is not in the
// schema, and the constants named Default… say it.
//
// +kubebuilder:object:generate=true
// +groupName=reminders.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds.
const GroupName = "reminders.dev"

var (
	// GroupVersion is the group and version of the types of this package.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

	// SchemeBuilder collects what AddToScheme adds.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ReminderSchedule{}, &ReminderScheduleList{},
		&ReminderChannel{}, &ReminderChannelList{},
		&BusinessCalendar{}, &BusinessCalendarList{},
		&ReminderReplay{}, &ReminderReplayList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
