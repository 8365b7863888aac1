package main

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func writeNames(n *names, out string) error {
	lines := slices.Clone(n.zones)
	for link := range n.links {
		target, err := n.canonical(link)
		if err != nil {
			return err
		}
		lines = append(lines, link+" "+target)
	}
	slices.Sort(lines)
	text := fmt.Sprintf("# version %s\n%s\n", n.version, strings.Join(lines, "\n"))
	return os.WriteFile(filepath.Join(out, "names.txt"), []byte(text), 0o644)
}

// writeZip stores every zone, in the order of names and without dates, so that the
// same sources always give the same bytes.
func writeZip(n *names, src, out string) error {
	file, err := os.Create(filepath.Join(out, "zoneinfo.zip"))
	if err != nil {
		return err
	}
	w := zip.NewWriter(file)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, zone := range slices.Sorted(slices.Values(n.zones)) {
		if err := addZone(w, zone, filepath.Join(src, "zi", zone)); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return file.Close()
}

func addZone(w *zip.Writer, name, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	entry, err := w.Create(name)
	if err != nil {
		return err
	}
	_, err = entry.Write(data)
	return err
}
