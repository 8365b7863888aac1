package channel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HeaderPrefix begins the keys of a channel's Secret that are sent as headers:
// the value of header.Authorization is the value of the header Authorization.
const HeaderPrefix = "header."

const (
	// maxHeaderValue is the largest value of a header from the Secret, in bytes.
	maxHeaderValue = 8 << 10
	// maxHeaders is how many headers a Secret may hold.
	maxHeaders = 32
)

// secretHeader is one header whose value is a credential.
type secretHeader struct {
	name  string
	value Secret
}

// headerFiles reads the headers of a mounted Secret, again when they change.
type headerFiles struct {
	dir   string
	cache reread[[]secretHeader]
}

// current is the headers in the order of their keys; none without a Secret.
func (h *headerFiles) current() ([]secretHeader, error) {
	if h.dir == "" {
		return nil, nil
	}
	names, err := h.names()
	if err != nil {
		return nil, err
	}
	seen, err := look(h.dir, names)
	if err != nil {
		return nil, err
	}
	return h.cache.get(seen, func() ([]secretHeader, error) { return h.read(seen) })
}

// names are the files that hold headers.
func (h *headerFiles) names() ([]string, error) {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, fmt.Errorf("list the files of the channel's Secret: %w", bare(err))
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), HeaderPrefix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (h *headerFiles) read(seen map[string]fs.FileInfo) ([]secretHeader, error) {
	data := map[string][]byte{}
	for name := range seen {
		value, err := readFile(filepath.Join(h.dir, name), maxHeaderValue+2)
		if err != nil {
			return nil, fmt.Errorf("read secret file %s: %w", name, err)
		}
		data[name] = value
	}
	headers, err := parseSecretHeaders(data)
	if err != nil {
		return nil, fmt.Errorf("the channel's Secret: %w", err)
	}
	return headers, nil
}

// parseSecretHeaders takes the headers from the data of a Secret. Its errors name
// keys and hold no value.
func parseSecretHeaders(data map[string][]byte) ([]secretHeader, error) {
	var headers []secretHeader
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasPrefix(key, HeaderPrefix) {
			continue
		}
		header, err := parseSecretHeader(key, data[key])
		if err != nil {
			return nil, fmt.Errorf("key %s %w", key, err)
		}
		if slices.ContainsFunc(headers, func(h secretHeader) bool { return h.name == header.name }) {
			return nil, fmt.Errorf("key %s names a header that another key names, too", key)
		}
		headers = append(headers, header)
	}
	if len(headers) > maxHeaders {
		return nil, fmt.Errorf("holds %d headers; at most %d are sent", len(headers), maxHeaders)
	}
	return headers, nil
}

func parseSecretHeader(key string, data []byte) (secretHeader, error) {
	name := strings.TrimPrefix(key, HeaderPrefix)
	canonical := http.CanonicalHeaderKey(name)
	value := bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
	switch {
	case !isToken(name):
		return secretHeader{}, errors.New("does not end in the name of a header")
	case isReserved(canonical) || isReservedInSecret(canonical):
		return secretHeader{}, errors.New("names a header that the operator or the protocol sets")
	case len(bytes.TrimSpace(value)) == 0:
		return secretHeader{}, errors.New("is empty")
	case len(value) > maxHeaderValue:
		return secretHeader{}, fmt.Errorf("has more than %d bytes", maxHeaderValue)
	case bytes.ContainsFunc(value, isHeaderControl):
		return secretHeader{}, errors.New("holds a line break or another control character")
	}
	return secretHeader{name: canonical, value: NewSecret(bytes.Clone(value))}, nil
}

// isReservedInSecret tells names that are reserved beside those of isReserved.
func isReservedInSecret(name string) bool {
	for _, prefix := range []string{"Content-", "Webhook-", "Proxy-"} {
		if strings.HasPrefix(name, prefix) {
			return name != "Proxy-Authorization"
		}
	}
	return name == "Traceparent" || name == "Tracestate" || name == "Set-Cookie"
}

func isHeaderControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
