package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// flagRow is one flag of a command.
type flagRow struct{ name, kind, standard, usage string }

// readFlags reads the flags of each command in cmd/: calls such as
// DurationVar(&f.retention, "retention", 168*time.Hour, "how long…") in the
// functions <command>Command.
func (s *source) readFlags(root string) error {
	files, err := parseDir(root, "cmd")
	if err != nil {
		return err
	}
	s.flags = map[string][]flagRow{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasSuffix(fn.Name.Name, "Command") {
				continue
			}
			command := strings.TrimSuffix(fn.Name.Name, "Command")
			ast.Inspect(fn, func(n ast.Node) bool {
				if one, ok := flagOf(n); ok {
					s.flags[command] = append(s.flags[command], one)
				}
				return true
			})
		}
	}
	return nil
}

func flagOf(n ast.Node) (flagRow, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 4 {
		return flagRow{}, false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasSuffix(sel.Sel.Name, "Var") {
		return flagRow{}, false
	}
	return flagRow{
		name: literal(call.Args[1]), usage: literal(call.Args[3]),
		kind: kindOf(strings.TrimSuffix(sel.Sel.Name, "Var")), standard: constantText(call.Args[2]),
	}, true
}

// kindOf is the type of a flag as people call it.
func kindOf(method string) string {
	if method == "StringSlice" {
		return "list"
	}
	return strings.ToLower(method)
}

// constantText is the default of a flag as people write it. Empty where it is
// known only when the program runs: the usage then says what it is.
func constantText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return literal(e)
		}
		return e.Value
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			return e.Name
		}
	case *ast.BinaryExpr:
		return constantText(e.X) + constantText(e.Y)
	case *ast.SelectorExpr:
		return map[string]string{"Hour": "h", "Minute": "m", "Second": "s"}[e.Sel.Name]
	}
	return ""
}

var statedInUsage = regexp.MustCompile(`; default (.*?)( \(required\))?$`)

// flagsTable is the table of a command's flags.
func (s *source) flagsTable(command string) (string, error) {
	flags := s.flags[command]
	if len(flags) == 0 {
		return "", fmt.Errorf("cmd/ has no flags of a command %s", command)
	}
	var text strings.Builder
	text.WriteString(table("flag", "type", "default", "what it does"))
	for _, f := range flags {
		standard := f.standard
		if standard != "" {
			standard = "`" + standard + "`"
		}
		if m := statedInUsage.FindStringSubmatchIndex(f.usage); m != nil && standard == "" {
			standard = f.usage[m[2]:m[3]]
			end := ""
			if m[4] >= 0 {
				end = f.usage[m[4]:m[5]]
			}
			f.usage = f.usage[:m[0]] + end
		}
		if strings.HasSuffix(f.usage, "(required)") && standard == "" {
			standard = "required"
			f.usage = strings.TrimSpace(strings.TrimSuffix(f.usage, "(required)"))
		}
		text.WriteString(row("`--"+f.name+"`", f.kind, cell(standard), cell(f.usage)))
	}
	return text.String(), nil
}
