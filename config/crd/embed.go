// Package crd carries the CustomResourceDefinitions of the four kinds, so that programs can check objects without a
// cluster.
package crd

import "embed"

// Bases has the generated CustomResourceDefinitions, one file of YAML each, below bases/.
//
//go:embed bases/*.yaml
var Bases embed.FS
