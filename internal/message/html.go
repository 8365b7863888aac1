package message

import (
	"errors"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// HTML is a compiled HTML template. The values of its expressions are escaped for the place where they stand. It is
// immutable and safe for concurrent use.
//
// The places are found by the escaper of html/template, which sees the author's text with a marker of ours for each
// expression, and no action of the author's: the delimiters hold a NUL, which the text may not. Only places are allowed for
// which the escaper knows one of the safe escapes below; all others are refused when the template is compiled.
type HTML struct {
	parts  []part // the expressions, in order
	places []place
	tree   *template.Template
}

// place is where in the HTML an expression stands.
type place struct {
	// begins: the value is the beginning of a URL, so that it decides its scheme.
	begins bool
}

// Delimiters of our markers, and their field: the values in order.
const (
	leftMarker  = "\x00("
	rightMarker = ")\x00"
)

// Escapers of html/template that are safe, by what they are for.
var (
	escapesText   = []string{"_html_template_htmlescaper"}
	escapesTitle  = []string{"_html_template_rcdataescaper"}
	escapesAttr   = []string{"_html_template_attrescaper"}
	escapesURL    = []string{"_html_template_urlfilter", "_html_template_urlnormalizer", "_html_template_attrescaper"}
	escapesInURL  = []string{"_html_template_urlnormalizer", "_html_template_attrescaper"}
	escapesInRest = []string{"_html_template_urlescaper", "_html_template_attrescaper"}
)

// unsound are texts that browsers and the escaper read differently, and an attribute that holds a document of its own.
var unsound = []struct {
	pattern *regexp.Regexp
	reason  string
}{
	{regexp.MustCompile(`\x00`), "the template holds a NUL character"},
	{regexp.MustCompile(`--!>|<!-->|<!--->`), "the template ends a comment in an unusual way; write <!-- … -->"},
	{regexp.MustCompile(`(?i)\bsrcdoc\s*=`), "the template has an attribute srcdoc, in which nothing can be escaped safely"},
}

// CompileHTML compiles an HTML template. An error is an *[Error]: beside what [Compile] refuses, an expression where no
// escaping is safe, such as in a script, a style, an event's attribute, an attribute without quotes or a tag's name, and
// HTML that ends inside a tag, an attribute, a comment or a script.
func CompileHTML(source string) (*HTML, error) {
	for _, u := range unsound {
		if found := u.pattern.FindStringIndex(source); found != nil {
			return nil, position{1, 1}.after(strings.ToValidUTF8(source[:found[0]], "\uFFFD")).fault("", "%s", u.reason)
		}
	}
	t, err := Compile(source)
	if err != nil {
		return nil, err
	}
	h := &HTML{}
	marked := h.mark(t.parts)
	if h.tree, err = template.New("html").Delims(leftMarker, rightMarker).Parse(marked); err != nil {
		return nil, position{1, 1}.fault("", "the HTML cannot be read")
	}
	// The escaper works at the first execution.
	if err := h.tree.Execute(io.Discard, make([]string, len(h.parts))); err != nil {
		return nil, h.unescapable(err)
	}
	if fault := h.locate(); fault != nil {
		return nil, fault
	}
	return h, nil
}

// mark keeps the expressions and answers the author's text with markers in their place.
func (h *HTML) mark(parts []part) string {
	var text strings.Builder
	for _, p := range parts {
		if p.expr {
			text.WriteString(leftMarker + "index . " + strconv.Itoa(len(h.parts)) + rightMarker)
			h.parts = append(h.parts, p)
		} else {
			text.WriteString(p.text)
		}
	}
	return text.String()
}

// unescapable says why the escaper refused the HTML. Its own words speak of our markers.
func (h *HTML) unescapable(err error) *Error {
	reason := "an expression stands where nothing can be escaped safely; use element text or an attribute in quotes"
	if fault, ok := errors.AsType[*template.Error](err); ok && fault.ErrorCode == template.ErrEndContext {
		reason = "the HTML ends inside a tag, an attribute, a comment, a script or a style"
	}
	return position{1, 1}.fault("", "%s", reason)
}

// locate looks at the escapers that each expression was given.
func (h *HTML) locate() *Error {
	before := ""
	for _, node := range h.tree.Tree.Root.Nodes {
		switch node := node.(type) {
		case *parse.TextNode:
			before = string(node.Text)
		case *parse.ActionNode:
			p := h.parts[len(h.places)]
			found, reason := placeOf(escapersOf(node), before)
			if reason != "" {
				return p.at.fault(p.text, "%s", reason)
			}
			h.places = append(h.places, found)
			before = ""
		}
	}
	if len(h.places) != len(h.parts) {
		return position{1, 1}.fault("", "an expression stands in a comment")
	}
	return nil
}

func escapersOf(node *parse.ActionNode) []string {
	var names []string
	for _, command := range node.Pipe.Cmds[1:] {
		for _, arg := range command.Args {
			names = append(names, arg.String())
		}
	}
	return names
}

// placeOf tells where an expression stands, or why it may not stand there.
func placeOf(escapers []string, before string) (place, string) {
	switch {
	case slices.Equal(escapers, escapesText), slices.Equal(escapers, escapesTitle), slices.Equal(escapers, escapesAttr):
		return place{}, ""
	case slices.Equal(escapers, escapesURL):
		return place{begins: true}, ""
	case slices.Equal(escapers, escapesInRest):
		return place{}, ""
	case slices.Equal(escapers, escapesInURL):
		if beginsURL.MatchString(before[strings.LastIndexAny(before, `"'`)+1:]) {
			return place{}, ""
		}
		return place{}, "stands in a URL of which the beginning is not certain; begin it with https://, http:// or mailto:"
	}
	return place{}, "stands where no value can be escaped safely, such as in a script, a style, an event's attribute, a comment, an attribute without quotes or a tag; use element text or an attribute in quotes"
}

// beginsURL is a text behind which nothing can make another scheme.
var beginsURL = regexp.MustCompile(`(?i)^\s*(https?://|mailto:|[/?#])`)

// Render is the HTML for one reminder. An error is an *[Error], as of [Template.Render].
func (h *HTML) Render(in Input) (string, error) {
	values, err := h.values(in)
	if err != nil {
		return "", err
	}
	out := &bounded{left: MaxOutput}
	if err := h.tree.Execute(out, values); err != nil {
		if out.left < 0 {
			return "", position{1, 1}.fault("", "the rendered text is longer than %d bytes", MaxOutput)
		}
		return "", position{1, 1}.fault("", "the HTML cannot be rendered")
	}
	return out.text.String(), nil
}

// values are those of the expressions.
func (h *HTML) values(in Input) ([]string, error) {
	if size(in.Recipient.Attributes) > MaxAttributes {
		return nil, position{1, 1}.fault("", "the recipient's attributes have more than %d bytes", MaxAttributes)
	}
	values, spent, length := make([]string, 0, len(h.parts)), uint64(0), 0
	for i, p := range h.parts {
		text, cost, err := p.render(activation{&in})
		if err != nil {
			return nil, err
		}
		if spent += cost; spent > maxRenderCost {
			return nil, p.at.fault(p.text, "%s", reasonCost)
		}
		if length += len(text); length > MaxOutput {
			return nil, p.at.fault(p.text, "the rendered text is longer than %d bytes", MaxOutput)
		}
		if h.places[i].begins && !harmless(text) {
			return nil, p.at.fault(p.text, "yields a URL that begins with neither https://, http:// nor mailto:")
		}
		values = append(values, text)
	}
	return values, nil
}

// harmless tells whether a text may be the beginning of a URL.
func harmless(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "mailto:")
}

// bounded is a text of bounded length.
type bounded struct {
	text strings.Builder
	left int
}

var errTooLong = errors.New("too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLong
	}
	return b.text.Write(p)
}
