package plugin

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

// maxExpanded bounds what a YAML document may come to when its aliases are written out, in bytes.
const maxExpanded = 4 << 20

var errExpanded = errors.New("the aliases (*name) of this document come to too much: write the values out")

// expandable refuses a document of which aliases make something much larger, or endless.
func expandable(text []byte) error {
	if !bytes.ContainsRune(text, '&') || !bytes.ContainsRune(text, '*') {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil // the decoder says it better
	}
	if limit := max(maxExpanded, len(text)); (sizes{}).of(&root) > limit {
		return errExpanded
	}
	return nil
}

// sizes are those of nodes that were measured before.
type sizes map[*yaml.Node]int

// of is what a node comes to, at most some times the limit.
func (s sizes) of(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, known := s[n]; known {
		return size
	}
	s[n] = maxInput * 2 // as long as it is being measured: an anchor that contains itself has no end
	size := len(n.Value) + 1
	for _, child := range n.Content {
		size = min(size+s.of(child), maxInput*2)
	}
	s[n] = size
	return size
}
