package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Weekday is a day of the week.
// +kubebuilder:validation:Enum=Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type Weekday string

// Values of Weekday.
const (
	Monday    Weekday = "Monday"
	Tuesday   Weekday = "Tuesday"
	Wednesday Weekday = "Wednesday"
	Thursday  Weekday = "Thursday"
	Friday    Weekday = "Friday"
	Saturday  Weekday = "Saturday"
	Sunday    Weekday = "Sunday"
)

// BusinessCalendarSpec says which days are business days: all but the weekend and the holidays. The sources of holidays
// add up.
// +kubebuilder:validation:XValidation:rule="!has(self.region) || (has(self.country) && self.region.startsWith(self.country + '-'))",message="region begins with the country, such as DE-BY with country DE",fieldPath=".region"
type BusinessCalendarSpec struct {
	// weekend are the days of the week that are no business days, at most 6. Default [Saturday, Sunday]; [] for none.
	// +listType=set
	// +kubebuilder:validation:MaxItems=6
	// +kubebuilder:default={Saturday,Sunday}
	// +optional
	Weekend []Weekday `json:"weekend,omitzero"`

	// country adds the public holidays of a country, by its ISO 3166-1 code in capitals, such as DE. 2 characters.
	// Default: unset, none.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=2
	// +kubebuilder:validation:Pattern=`^[A-Z]{2}$`
	// +optional
	Country string `json:"country,omitempty"`

	// region adds the public holidays of a part of the country, by its ISO 3166-2 code, such as DE-BY. 4 to 6 characters.
	// Default: unset, those of the whole country only.
	// +kubebuilder:validation:MinLength=4
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^[A-Z]{2}-[A-Z0-9]{1,3}$`
	// +optional
	Region string `json:"region,omitempty"`

	// holidays are further days that are no business days, at most 1000, with different dates.
	// +listType=map
	// +listMapKey=date
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	Holidays []Holiday `json:"holidays,omitempty"`

	// earlyCloses are days that end early, at most 366, with different dates: an occurrence at or after that time is treated
	// as one on a day that is no business day.
	// +listType=map
	// +listMapKey=date
	// +kubebuilder:validation:MaxItems=366
	// +optional
	EarlyCloses []EarlyClose `json:"earlyCloses,omitempty"`

	// iCalendar adds the all-day events of an iCalendar file (RFC 5545), such as the one that an office publishes.
	// +optional
	ICalendar *ICalendarSource `json:"iCalendar,omitempty"`

	// include are other BusinessCalendars in the same namespace whose holidays are added, but not their weekends, such as
	// [target2]. At most 16.
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	Include []string `json:"include,omitempty"`
}

// Holiday is one day that is no business day.
type Holiday struct {
	// date is the day, such as 2026-12-24. Years 1970 to 2100.
	// +kubebuilder:validation:MinLength=10
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^(19[7-9][0-9]|20[0-9]{2}|2100)-[0-9]{2}-[0-9]{2}$`
	// +kubebuilder:validation:XValidation:rule="!format.date().validate(self).hasValue()",message="date is a day of the calendar, such as 2026-12-24"
	// +required
	Date string `json:"date,omitempty"`

	// name says which day it is, such as Christmas Eve. At most 128 characters. Default: empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	Name string `json:"name,omitempty"`
}

// EarlyClose is one business day that ends early.
type EarlyClose struct {
	// date is the day, such as 2026-12-31. Years 1970 to 2100.
	// +kubebuilder:validation:MinLength=10
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^(19[7-9][0-9]|20[0-9]{2}|2100)-[0-9]{2}-[0-9]{2}$`
	// +kubebuilder:validation:XValidation:rule="!format.date().validate(self).hasValue()",message="date is a day of the calendar, such as 2026-12-31"
	// +required
	Date string `json:"date,omitempty"`

	// time is the local time at which the day ends, from 00:01 to 23:59, such as "13:00".
	// +kubebuilder:validation:MinLength=5
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	// +kubebuilder:validation:XValidation:rule="self != '00:00'",message="a day that ends at 00:00 is a holiday: write it into holidays"
	// +required
	Time string `json:"time,omitempty"`

	// name says which day it is, such as New Year's Eve. At most 128 characters. Default: empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	// +optional
	Name string `json:"name,omitempty"`
}

// ICalendarSource says where an iCalendar file lies.
type ICalendarSource struct {
	// configMapRef is a key of a ConfigMap in the same namespace.
	// +required
	ConfigMapRef ConfigMapKeyRef `json:"configMapRef,omitzero"`
}

// ConfigMapKeyRef is a key of a ConfigMap.
type ConfigMapKeyRef struct {
	// name is the name of the ConfigMap, such as office-calendar. 1 to 253 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// key is the key in it. 1 to 253 characters. Default calendar.ics.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	// +kubebuilder:default=calendar.ics
	// +optional
	Key string `json:"key,omitempty"`
}

// BusinessCalendarStatus is what the operator made of a calendar.
type BusinessCalendarStatus struct {
	// conditions of the calendar: Ready; Reconciling and Stalled while they are True.
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status speaks of.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// holidays is the number of holidays in the 366 days from today (UTC) on, from all sources.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Holidays int32 `json:"holidays"`

	// upcoming are the next of these holidays, at most 5, today's included.
	// +listType=map
	// +listMapKey=date
	// +kubebuilder:validation:MaxItems=5
	// +optional
	Upcoming []Holiday `json:"upcoming,omitempty"`

	// dataVersion is the release of the data that public holidays come from, such as rickar/cal v2.1.26. At most 128
	// characters. A later release of the operator may know more holidays.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +optional
	DataVersion string `json:"dataVersion,omitempty"`
}

// BusinessCalendar says which days are business days.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bcal,categories=reminders
// +kubebuilder:validation:XValidation:rule="!has(self.spec.include) || !(self.metadata.name in self.spec.include)",message="a calendar does not include itself",fieldPath=".spec.include"
// +kubebuilder:printcolumn:name="Country",type=string,JSONPath=`.spec.country`,description="Whose public holidays are in it"
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`,description="Whose regional holidays are in it"
// +kubebuilder:printcolumn:name="Holidays",type=integer,JSONPath=`.status.holidays`,description="Holidays in the year ahead"
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.upcoming[0].date`,description="The next holiday"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether schedules can use the calendar"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the calendar is ready or not"
type BusinessCalendar struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec BusinessCalendarSpec `json:"spec,omitempty"`

	// status is what the operator observed; it writes it alone.
	// +optional
	Status BusinessCalendarStatus `json:"status,omitempty"`
}

// BusinessCalendarList is a list of BusinessCalendars.
// +kubebuilder:object:root=true
type BusinessCalendarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BusinessCalendar `json:"items"`
}
