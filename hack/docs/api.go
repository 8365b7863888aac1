package main

import (
	"fmt"
	"strings"
)

const apiHead = `<!-- Written by go run ./hack/docs from config/crd/bases. Do not edit. -->

# API

Group ` + "`reminders.dev`" + `, version ` + "`v1alpha1`" + `. All kinds are namespaced, have a status subresource, and are in the category
` + "`reminders`" + `: ` + "`kubectl get reminders`" + ` lists them all. ` + "`kubectl explain reminderschedules.spec`" + ` shows what stands here.

| how it is written | where |
|---|---|
| duration: hours, minutes, seconds and parts of them, ` + "`36h`, `1h30m`, `2.5s`, `100ms`" + ` | fields of the type duration |
| time: RFC 3339, ` + "`2026-11-03T08:00:00Z`" + `; in status always in UTC | fields of the type time |
| ratio or percentage: a string, ` + "`\"99.9\"`" + ` | where a number may have decimals |
| reference: the name of an object in the same namespace | fields that end in ` + "`Name`" + ` or ` + "`Ref`" + ` |

A field marked **Not yet** can be written and is checked, but this version does not act on it. It is not accepted silently: the object is
` + "`Stalled`" + ` with the reason ` + "`NotSupportedYet`" + `, and the message names the field.

| kind | short name | what it is | fields | printed |
|---|---|---|---|---|
`

func (s *source) apiPage() string {
	var b strings.Builder
	b.WriteString(apiHead)
	for _, name := range s.order {
		k := s.kinds[name]
		page := strings.ToLower(name) + ".md"
		b.WriteString(row("`"+name+"`", "`"+strings.Join(k.Spec.Names.ShortNames, "`, `")+"`",
			cell(strings.TrimPrefix(k.Spec.Versions[0].Schema.OpenAPI.Description, name+" ")), fmt.Sprintf("[spec](%[1]s#spec), [status](%[1]s#status)", page), fmt.Sprintf("[columns](%s#columns)", page)))
	}
	return b.String()
}

// columnsTable is what `kubectl get` shows of a kind.
func (s *source) columnsTable(name string) (string, error) {
	v, err := s.version(name)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(table("column", "shown", "from", "meaning"))
	for _, c := range v.Columns {
		shown := "always"
		if c.Priority > 0 {
			shown = "with `-o wide`"
		}
		text.WriteString(row(strings.ToUpper(c.Name), shown, "`"+cell(c.JSONPath)+"`", cell(c.Description)))
	}
	return text.String(), nil
}
