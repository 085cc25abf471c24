package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named are the variables behind expressions that are not spelled out where they are read; "" is one that lockcheck sets for a
// process of its own.
var named = map[string][]string{
	"client.EnvOverrideHost": {"DOCKER_HOST"}, // of the engine's library
	"variable":               {"LOCKCHECK_IMAGE_<BACKEND>"},
	"name":                   {"GOGC", "GOMEMLIMIT", "PATH", "LANG", "TZ", "GOCOVERDIR", "GORACE"},
	"envInside":              nil, // lockcheck sets it for a process of its own
	"EnvNamespaces":          {"LOCKCHECK_NAMESPACES"},
	"EnvLinuxBinary":         {"LOCKCHECK_LINUX_BINARY"},
	"EnvClient":              {"LOCKCHECK_KUBERNETES_CLIENT"},
	"assets":                 {"KUBEBUILDER_ASSETS"},
	"envToken":               nil, // of a campaign's pod, as the next
	"envKeep":                nil,
	"envFailures":            nil,
}

// Every environment variable that the program reads is in --help. What it reads is found in its source: all folders that it is
// built from.
func TestHelpHasEveryEnvironmentVariable(t *testing.T) {
	help := lockcheck(t, "--help").stdout
	words := strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" ,\n", r) })
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if .Module}}{{if eq .Module.Path "lockcheck"}}{{.Dir}}{{end}}{{end}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, dir := range strings.Fields(string(out)) {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, expression := range readsOf(t, file) {
				read++
				names, known := named[expression]
				if name, err := strconv.Unquote(expression); err == nil {
					names, known = []string{name}, true
				}
				if !known {
					t.Errorf("%s reads %s: say in this test which variable that is", file, expression)
				}
				for _, name := range names {
					if !slices.Contains(words, name) {
						t.Errorf("%s reads %s, which is not in the table of environment.go", file, name)
					}
				}
			}
		}
	}
	if read < 15 {
		t.Errorf("only %d places that read a variable were found", read)
	}
}

// readsOf are the arguments with which a file asks for environment variables.
func readsOf(t *testing.T, file string) (arguments []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Getenv", "LookupEnv", "ExpandEnv"}, function.Sel.Name) {
			return true
		}
		switch argument := call.Args[0].(type) {
		case *ast.BasicLit:
			arguments = append(arguments, argument.Value)
		case *ast.Ident:
			arguments = append(arguments, argument.Name)
		case *ast.SelectorExpr:
			arguments = append(arguments, argument.X.(*ast.Ident).Name+"."+argument.Sel.Name)
		default:
			arguments = append(arguments, "what the test does not understand")
		}
		return true
	})
	return arguments
}
