package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// kind is one CustomResourceDefinition, as far as the pages need it.
type kind struct {
	Spec struct {
		Names struct {
			Kind       string   `json:"kind"`
			Plural     string   `json:"plural"`
			ShortNames []string `json:"shortNames"`
		} `json:"names"`
		Versions []version `json:"versions"`
	} `json:"spec"`
}

type version struct {
	Name    string   `json:"name"`
	Columns []column `json:"additionalPrinterColumns"`
	Schema  struct {
		OpenAPI schema `json:"openAPIV3Schema"`
	} `json:"schema"`
}

type column struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	JSONPath    string `json:"jsonPath"`
	Priority    int    `json:"priority"`
}

// schema is a part of an OpenAPI schema.
type schema struct {
	Description          string             `json:"description"`
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Default              any                `json:"default"`
	Enum                 []string           `json:"enum"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	MinLength            *int64             `json:"minLength"`
	MaxLength            *int64             `json:"maxLength"`
	MinItems             *int64             `json:"minItems"`
	MaxItems             *int64             `json:"maxItems"`
	MaxProperties        *int64             `json:"maxProperties"`
	Required             []string           `json:"required"`
	Properties           map[string]*schema `json:"properties"`
	Items                *schema            `json:"items"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string"`
	Rules                []rule             `json:"x-kubernetes-validations"`
}

type rule struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func (s *source) readKinds(root string) error {
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return fmt.Errorf("list the CRDs: %w", err)
	}
	s.kinds = map[string]*kind{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a CRD: %w", err)
		}
		k := &kind{}
		if err := yaml.Unmarshal(text, k); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
		s.kinds[k.Spec.Names.Kind] = k
	}
	for _, name := range s.order {
		if s.kinds[name] == nil || len(s.kinds[name].Spec.Versions) != 1 {
			return fmt.Errorf("read the CRDs: %s is missing, or has not one version", name)
		}
	}
	if len(s.kinds) != len(s.order) {
		return fmt.Errorf("read the CRDs: there are %d, and pages for %d", len(s.kinds), len(s.order))
	}
	return nil
}

func (s *source) version(name string) (*version, error) {
	k := s.kinds[name]
	if k == nil {
		return nil, fmt.Errorf("there is no kind %s", name)
	}
	return &k.Spec.Versions[0], nil
}

// fieldsTable is the table of all fields of a kind's spec or status, and behind
// it the rules that bind several of them.
func (s *source) fieldsTable(name, part string) (string, error) {
	v, err := s.version(name)
	if err != nil {
		return "", err
	}
	top := v.Schema.OpenAPI.Properties[part]
	if top == nil {
		return "", fmt.Errorf("%s has no %s", name, part)
	}
	w := walker{source: s, kind: name}
	for _, r := range v.Schema.OpenAPI.Rules {
		if part == "spec" {
			w.rules = append(w.rules, [2]string{"the object", r.Message})
		}
	}
	w.text.WriteString(table("field", "type", "default", "bounds", "what it is"))
	w.walk(top, s.types[name+strings.ToUpper(part[:1])+part[1:]], part)
	if len(w.rules) > 0 {
		w.text.WriteString("\nRules beside these, checked when the object is applied:\n\n")
		for _, r := range w.rules {
			fmt.Fprintf(&w.text, "* %s: %s\n", r[0], cell(r[1]))
		}
	}
	return w.text.String(), nil
}

type walker struct {
	*source
	kind  string
	text  strings.Builder
	rules [][2]string
}

// walk writes the fields of one object, in the order of the Go type, and those
// of the objects in it. A type of another module is not opened.
func (w *walker) walk(object *schema, fields []goField, path string) {
	for _, r := range object.Rules {
		w.rules = append(w.rules, [2]string{"`" + path + "`", r.Message})
	}
	for _, f := range fields {
		property := object.Properties[f.name]
		if property == nil {
			continue
		}
		at := path + "." + f.name
		w.write(at, property, f, slices.Contains(object.Required, f.name))
		inner, suffix := property, ""
		if property.Items != nil {
			inner, suffix = property.Items, "[]"
		}
		if inner.Properties != nil && w.types[f.kind] != nil {
			w.walk(inner, w.types[f.kind], at+suffix)
		}
	}
}

func (w *walker) write(path string, s *schema, f goField, required bool) {
	text := strings.Join(strings.Fields(s.Description), " ")
	text, stated := splitDefault(text)
	standard := defaultOf(s)
	if standard == "" {
		standard = stated
	}
	if required {
		standard = "required"
	}
	if note, ok := w.note(path); ok {
		text = note + " " + text
	}
	short := strings.TrimPrefix(strings.TrimPrefix(path, "spec."), "status.")
	w.text.WriteString(row("`"+short+"`", typeOf(s, f), cell(standard), cell(boundsOf(s)), cell(text)))
}

// note says of a path that this version does not act on it.
func (w *walker) note(path string) (string, bool) {
	plain := strings.ReplaceAll(path, "[]", "")
	for known, part := range w.unsupported[w.kind] {
		if plain == known && part != "" {
			return "**Not yet: " + part + ".**", true
		}
		if part == "" && (plain == known || strings.HasPrefix(plain, known+".")) {
			return "**Not yet.**", true
		}
	}
	return "", false
}

var statedDefault = regexp.MustCompile(`(^|[.)"] )Default:? (.*?)\.( |$)`)

// splitDefault takes the sentence that states the default out of a comment.
func splitDefault(text string) (rest, standard string) {
	m := statedDefault.FindStringSubmatchIndex(text)
	if m == nil {
		return text, ""
	}
	return strings.TrimSpace(text[:m[3]] + text[m[1]:]), text[m[4]:m[5]]
}

func defaultOf(s *schema) string {
	switch d := s.Default.(type) {
	case nil:
		return ""
	case string:
		return "`" + d + "`"
	case float64:
		return "`" + strconv.FormatFloat(d, 'f', -1, 64) + "`"
	case []any:
		parts := make([]string, 0, len(d))
		for _, one := range d {
			parts = append(parts, fmt.Sprint(one))
		}
		return "`[" + strings.Join(parts, ", ") + "]`"
	default:
		return fmt.Sprintf("`%v`", d)
	}
}

func typeOf(s *schema, f goField) string {
	switch {
	case s.IntOrString:
		return "integer or string"
	case s.Type == "array":
		return "list of " + plural(typeOf(s.Items, f))
	case f.foreign == "metav1.Duration":
		return "duration"
	case s.Format == "date-time":
		return "time"
	case s.AdditionalProperties != nil:
		return "map of " + plural(typeOf(s.AdditionalProperties, goField{}))
	}
	return s.Type
}

func plural(of string) string {
	if of == "" || strings.HasSuffix(of, "s") {
		return of
	}
	return of + "s"
}

var durations = regexp.MustCompile(`duration\(self\) >= duration\('([^']+)'\) && duration\(self\) <= duration\('([^']+)'\)`)

// boundsOf is what the schema allows, in words.
func boundsOf(s *schema) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if len(s.Enum) > 0 {
		add("`" + strings.Join(s.Enum, "`, `") + "`")
	}
	between := durationBounds(s)
	add(between)
	add(span(whole(s.Minimum), whole(s.Maximum), ""))
	if between == "" && len(s.Enum) == 0 {
		add(span(s.MinLength, s.MaxLength, " characters"))
	}
	add(span(s.MinItems, s.MaxItems, " entries"))
	add(span(nil, s.MaxProperties, " entries"))
	if s.Items != nil && s.Items.Properties == nil {
		if inner := boundsOf(s.Items); inner != "" {
			add("each " + inner)
		}
	}
	return strings.Join(parts, "; ")
}

func durationBounds(s *schema) string {
	for _, r := range s.Rules {
		if m := durations.FindStringSubmatch(r.Rule); m != nil {
			return m[1] + " to " + m[2]
		}
	}
	return ""
}

func whole(f *float64) *int64 {
	if f == nil {
		return nil
	}
	n := int64(*f)
	return &n
}

func span(least, most *int64, unit string) string {
	switch {
	case least == nil && most == nil:
		return ""
	case most == nil:
		return fmt.Sprintf("%d or more%s", *least, unit)
	case least == nil:
		return fmt.Sprintf("at most %d%s", *most, unit)
	case *least == *most:
		return fmt.Sprintf("%d%s", *least, unit)
	}
	return fmt.Sprintf("%d to %d%s", *least, *most, unit)
}
