package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// names is what the tz sources say about names: which are zones, and which only link to one.
type names struct {
	version string
	zones   []string
	links   map[string]string
}

// readNames reads tzdata.zi, the compact form of all the sources, and then lets backward correct the targets of links.
func readNames(src string) (*names, error) {
	n := &names{links: map[string]string{}}
	if err := eachLine(filepath.Join(src, "tzdata.zi"), n.addZI); err != nil {
		return nil, err
	}
	if err := eachLine(filepath.Join(src, "backward"), n.addTraditional); err != nil {
		return nil, err
	}
	for link := range n.links {
		if _, err := n.canonical(link); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *names) addZI(line string) {
	f := strings.Fields(line)
	switch {
	case len(f) == 3 && f[0] == "#" && f[1] == "version":
		n.version = f[2]
	case len(f) >= 2 && f[0] == "Z":
		n.zones = append(n.zones, f[1])
	case len(f) == 3 && f[0] == "L":
		n.links[f[2]] = f[1]
	}
}

// addTraditional takes "Link TARGET NAME #= TRADITIONAL": the target that NAME had before its zone was merged into
// another country's because the two agree since 1970. Iceland means Atlantic/Reykjavik, not Africa/Abidjan.
func (n *names) addTraditional(line string) {
	f := strings.Fields(line)
	if len(f) != 5 || f[0] != "Link" || f[3] != "#=" {
		return
	}
	if _, isLink := n.links[f[2]]; isLink {
		n.links[f[2]] = f[4]
	}
}

func (n *names) canonical(name string) (string, error) {
	for range 5 {
		target, isLink := n.links[name]
		if !isLink {
			return name, nil
		}
		name = target
	}
	return "", fmt.Errorf("links of %s form a chain that is too long", name)
}

func eachLine(path string, do func(string)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		do(lines.Text())
	}
	return lines.Err()
}
