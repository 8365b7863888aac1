package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// goTypes are the structs of the API with their fields in the order of the
// source, which is the order to read them in.
type goTypes map[string][]goField

// goField is one field: its name in JSON, and the name of its type, or of the
// type of its entries; foreign where that is one of another package.
type goField struct{ name, kind, foreign string }

// parseDir parses the Go files of a folder, without tests.
func parseDir(root, folder string) ([]*ast.File, error) {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var files []*ast.File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, folder, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", e.Name(), err)
		}
		files = append(files, f)
	}
	return files, nil
}

func (s *source) readTypes(root string) error {
	files, err := parseDir(root, "api/v1alpha1")
	if err != nil {
		return err
	}
	s.types = goTypes{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if fields, ok := spec.Type.(*ast.StructType); ok {
					s.types[spec.Name.Name] = fieldsOf(fields)
				}
			}
			return true
		})
	}
	return nil
}

func fieldsOf(s *ast.StructType) []goField {
	var all []goField
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "" {
			continue
		}
		one := goField{name: name}
		one.kind, one.foreign = typeName(f.Type)
		all = append(all, one)
	}
	return all
}

func typeName(e ast.Expr) (kind, foreign string) {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name, ""
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return "", x.Name + "." + e.Sel.Name
		}
	}
	return "", ""
}

// readUnsupported reads the lists in internal/convert of what is set and not
// acted on: composite literals {"spec.path: part", …}.
func (s *source) readUnsupported(root string) error {
	files, err := parseDir(root, "internal/convert")
	if err != nil {
		return err
	}
	s.unsupported = map[string]map[string]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Unsupported") {
				continue
			}
			found := map[string]string{}
			ast.Inspect(fn, func(n ast.Node) bool {
				if text := literal(n); strings.HasPrefix(text, "spec.") {
					path, part, _ := strings.Cut(text, ": ")
					found[path] = part
				}
				return true
			})
			s.unsupported["Reminder"+strings.TrimPrefix(fn.Name.Name, "Unsupported")] = found
		}
	}
	if len(s.unsupported["ReminderSchedule"]) == 0 && len(s.unsupported["ReminderChannel"]) == 0 {
		return fmt.Errorf("read what is not supported: internal/convert has no list of it")
	}
	return nil
}

// literal is the value of a text literal; empty for anything else.
func literal(n ast.Node) string {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return text
}
