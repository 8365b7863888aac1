// Package tzdb is the IANA time zone database, embedded: the same zones and the same rules on every machine.
//
// The standard library prefers the files of the machine it runs on, so that two replicas, or a laptop and the cluster,
// may disagree on what 09:00 in Vancouver is. This package never looks outside itself. It knows what the standard
// library does not tell: which names exist, and which of them are only links to another name.
//
// The data is public domain, from https://www.iana.org/time-zones; hack/tzdata/update.sh rebuilds it.
package tzdb

import (
	"archive/zip"
	_ "embed" // for the two data files
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var zoneinfo string

//go:embed names.txt
var namesText string

// Version is the release of the tz database that is embedded, such as "2026c".
func Version() string { return load().version }

// Names returns every known name, links included, in order. It must not be changed.
func Names() []string { return load().names }

// Canonical returns the name of the zone that name is or links to, or false if there is no such name. Case matters.
func Canonical(name string) (string, bool) {
	canonical, ok := load().canonical[name]
	return canonical, ok
}

type database struct {
	version   string
	names     []string
	canonical map[string]string
	zones     map[string]func() (*Zone, error)
}

// load reads the list of names and the directory of zones, once; a zone itself is read when it is first asked for.
var load = sync.OnceValue(func() *database {
	db := &database{canonical: map[string]string{}, zones: map[string]func() (*Zone, error){}}
	for line := range strings.Lines(namesText) {
		db.addName(strings.TrimSuffix(line, "\n"))
	}
	archive, err := zip.NewReader(strings.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		panic("tzdb: embedded zoneinfo.zip: " + err.Error()) // the build is broken; a test opens every zone
	}
	for _, file := range archive.File {
		db.zones[file.Name] = sync.OnceValues(func() (*Zone, error) { return readZone(file) })
	}
	return db
})

func (db *database) addName(line string) {
	if version, ok := strings.CutPrefix(line, "# version "); ok {
		db.version = version
		return
	}
	name, target, isLink := strings.Cut(line, " ")
	if !isLink {
		target = name
	}
	db.names = append(db.names, name)
	db.canonical[name] = target
}

func readZone(file *zip.File) (*Zone, error) {
	r, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("open zone %s: %w", file.Name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read zone %s: %w", file.Name, err)
	}
	location, err := time.LoadLocationFromTZData(file.Name, data)
	if err != nil {
		return nil, err
	}
	return newZone(location), nil
}

// UTC is the zone without changes.
var UTC = &Zone{Location: time.UTC}

// Load returns the zone that name is or links to; its String is the canonical name. Each zone is read once and shared.
func Load(name string) (*Zone, error) {
	db := load()
	zone, ok := db.zones[db.canonical[name]]
	if !ok {
		return nil, fmt.Errorf("no zone %q in the tz database %s", name, db.version)
	}
	return zone()
}
