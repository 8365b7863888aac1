package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Limits of what is read. A single object has at most 3 MiB in an API server.
const (
	maxInput     = 16 << 20 // bytes of all files together
	maxDocuments = 20_000   // objects of all files together
)

// document is one object as a person wrote it.
type document struct {
	file   string
	number int // in the file, from 1; documents without content do not count
	item   int // in a list, from 1; 0 outside of one
	line   int // at which the document begins, from 1
	object map[string]any
	err    error // the document cannot be read
}

var errTooMany = fmt.Errorf("more than %d objects: give them in several files, one after the other", maxDocuments)

// place says where a document is.
func (d document) place() string {
	if d.item > 0 {
		return fmt.Sprintf("document %d (line %d), item %d", d.number, d.line, d.item)
	}
	return fmt.Sprintf("document %d (line %d)", d.number, d.line)
}

// readDocuments takes apart a file with YAML documents, JSON objects, and lists of them.
func readDocuments(file string, text []byte) []document {
	var all []document
	for i, part := range split(text) {
		number := i + 1
		if len(all) >= maxDocuments {
			return append(all, document{file: file, number: number, line: part.line, err: errTooMany})
		}
		values, err := decode(part.text)
		for _, object := range values {
			all = append(all, unroll(document{file: file, number: number, line: part.line, object: object})...)
		}
		if err != nil {
			all = append(all, document{file: file, number: number, line: part.line, err: inFile(err, part.line)})
		}
	}
	return all
}

var lineInPart = regexp.MustCompile(`^line (\d+): `)

// inFile counts the line that an error names from the beginning of the file.
func inFile(err error, line int) error {
	found := lineInPart.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	n, conversion := strconv.Atoi(found[1])
	if conversion != nil {
		return err
	}
	return fmt.Errorf("line %d: %s", line+n-1, err.Error()[len(found[0]):])
}

// part is the text of one YAML document.
type part struct {
	line int
	text []byte
}

// split cuts a YAML stream at its separators. Parts without content are left out.
func split(text []byte) []part {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var parts []part
	current := part{line: 1}
	closed := func() {
		if hasContent(current.text) {
			parts = append(parts, current)
		}
	}
	line := 0
	for content := range bytes.Lines(text) {
		line++
		if rest, ok := separator(content); ok {
			closed()
			current = part{line: line, text: slices.Clone(rest)}
			continue
		}
		if len(parts) > maxDocuments {
			return parts
		}
		current.text = append(current.text, content...)
	}
	closed()
	return parts
}

// separator tells whether a line begins a document or ends one, and what stands behind.
func separator(line []byte) (rest []byte, ok bool) {
	for _, mark := range []string{"---", "..."} {
		rest, ok := bytes.CutPrefix(line, []byte(mark))
		if ok && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0]))) {
			return rest, true
		}
	}
	return nil, false
}

// hasContent tells whether there is more than blanks, comments and directives.
func hasContent(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return true
		}
	}
	return false
}

// decode reads the objects of one document: one of YAML, or any number of JSON.
func decode(text []byte) ([]map[string]any, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if objects, err := decodeJSON(text); err == nil {
			return objects, nil
		}
	}
	if err := expandable(text); err != nil {
		return nil, err
	}
	plain, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return decodeJSON(plain)
}

// decodeJSON reads JSON objects one behind the other.
func decodeJSON(text []byte) ([]map[string]any, error) {
	var objects []map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return objects, fmt.Errorf("this is no JSON: %w", err)
		}
		object, err := decodeObject(raw)
		if err != nil {
			return objects, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}

// decodeObject reads one JSON object; nil for null.
func decodeObject(text []byte) (map[string]any, error) {
	var value any
	strict, err := kjson.UnmarshalStrict(text, &value, kjson.DisallowDuplicateFields)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	if err != nil {
		return nil, err
	}
	switch value := value.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return value, nil
	}
	return nil, errors.New("this is no object: an object begins with apiVersion and kind")
}

// unroll takes the items out of a list.
func unroll(d document) []document {
	kind, _ := d.object["kind"].(string)
	items, ok := d.object["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") || d.item > 0 {
		return []document{d}
	}
	var all []document
	for i, item := range items {
		inner := document{file: d.file, number: d.number, line: d.line, item: i + 1}
		if inner.object, ok = item.(map[string]any); !ok {
			inner.err = errors.New("this is no object")
		} else if itemKind, _ := inner.object["kind"].(string); itemKind == "" && kind != "List" {
			inner.object["kind"], inner.object["apiVersion"] = strings.TrimSuffix(kind, "List"), d.object["apiVersion"]
		}
		all = append(all, inner)
	}
	return all
}
