package message

import "fmt"

// Source is what the author wrote: the templates of a message. All but Body may be empty.
type Source struct{ Subject, Body, HTML, UnsubscribeURL string }

// Parts is a compiled [Source].
type Parts struct {
	*Message
	html        *HTML
	unsubscribe *Unsubscribe
}

// Rendered is a message for one reminder; what has no template is empty.
type Rendered struct{ Subject, Body, HTML, UnsubscribeURL string }

// CompileParts compiles the templates of a message. An error names the field and wraps an *[Error].
func CompileParts(s Source) (*Parts, error) {
	m, err := CompileMessage(s.Subject, s.Body)
	if err != nil {
		return nil, err
	}
	p := &Parts{Message: m}
	if s.HTML != "" {
		if p.html, err = CompileHTML(s.HTML); err != nil {
			return nil, fmt.Errorf("spec.message.html: %w", err)
		}
	}
	if s.UnsubscribeURL != "" {
		if p.unsubscribe, err = CompileUnsubscribe(s.UnsubscribeURL); err != nil {
			return nil, fmt.Errorf("spec.message.unsubscribeURL: %w", err)
		}
	}
	return p, nil
}

// Render is the message for one reminder. An error names the field and wraps an *[Error].
func (p *Parts) Render(in Input) (r Rendered, err error) {
	if r.Subject, r.Body, err = p.Message.Render(in); err != nil {
		return Rendered{}, err
	}
	if p.html != nil {
		if r.HTML, err = p.html.Render(in); err != nil {
			return Rendered{}, fmt.Errorf("spec.message.html: %w", err)
		}
	}
	if p.unsubscribe != nil {
		if r.UnsubscribeURL, err = p.unsubscribe.Render(in); err != nil {
			return Rendered{}, fmt.Errorf("spec.message.unsubscribeURL: %w", err)
		}
	}
	return r, nil
}
