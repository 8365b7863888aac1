// Package convert turns API objects into the values that the rest of the
// operator works with, and says which field is wrong when it cannot. It reads
// nothing but the object; what it does not support yet it names (see
// [UnsupportedSchedule] and [UnsupportedChannel]) so that no field is accepted
// silently.
package convert
