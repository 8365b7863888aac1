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

| kind | short name | what it is | fields |
|---|---|---|---|
`

func (s *source) apiPage() string {
	var b strings.Builder
	b.WriteString(apiHead)
	for _, name := range s.order {
		k := s.kinds[name]
		page := strings.ToLower(name) + ".md"
		b.WriteString(row("`"+name+"`", "`"+strings.Join(k.Spec.Names.ShortNames, "`, `")+"`",
			cell(strings.TrimPrefix(k.Spec.Versions[0].Schema.OpenAPI.Description, name+" ")), fmt.Sprintf("[spec](%s#spec), [status](%s#status)", page, page)))
	}
	for _, name := range s.order {
		b.WriteString("\n## " + name + "\n\n")
		text, _ := s.columnsTable(name) // it is one of the kinds
		fmt.Fprintf(&b, "Columns of `kubectl get %s`:\n\n%s", s.kinds[name].Spec.Names.Plural, text)
		for _, r := range s.kinds[name].Spec.Versions[0].Schema.OpenAPI.Rules {
			fmt.Fprintf(&b, "\nRule over the object: %s.\n", cell(r.Message))
		}
	}
	return b.String()
}

// columnsTable is what `kubectl get` shows of a kind.
func (s *source) columnsTable(name string) (string, error) {
	v, err := s.version(name)
	if err != nil {
		return "", err
	}
	text := table("column", "shown", "from", "meaning")
	for _, c := range v.Columns {
		shown := "always"
		if c.Priority > 0 {
			shown = "with `-o wide`"
		}
		text += row(strings.ToUpper(c.Name), shown, "`"+cell(c.JSONPath)+"`", cell(c.Description))
	}
	return text, nil
}
