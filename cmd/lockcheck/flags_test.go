package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare/config"
)

// The example lists which flags a file may set: all that it may, in their order.
func TestTheExampleNamesEveryFlagOfAFile(t *testing.T) {
	var names []string
	for _, flag := range harness.Flags {
		if flag.Has(harness.InFile) {
			names = append(names, flag.Name)
		}
	}
	text := strings.ReplaceAll(config.Example, "\n# ", " ")
	if want := "the flags of lockcheck run of the same names (" + strings.Join(names, ", ") + ")"; !strings.Contains(text, want) {
		t.Errorf("the example does not say %q", want)
	}
}

// foreign are words of other programs that look like flags, and those of processes that lockcheck starts for itself.
var foreign = strings.Fields(`--advertise-client-urls --data-dir --initial-advertise-peer-urls --initial-cluster --initial-cluster-state
	--initial-cluster-token --listen-client-urls --listen-peer-urls --name --sentinel --mark --format --library-path
	--etcd-servers --bind-address --advertise-address --secure-port --tls-cert-file --tls-private-key-file --service-account-issuer
	--service-account-key-file --service-account-signing-key-file --token-auth-file --authorization-mode --service-cluster-ip-range
	--endpoint-reconciler-type --disable-admission-plugins
	--at --data --dir --epoch-ns --forward --keyed --kind --limbo --listen --log --owner --plant --probe --run --storage --through --wait --without-tokens`)

// A flag that an error or a help text names exists. So do the commands on the pages (*.md).
func TestTextsNameFlagsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, word := range foreign {
		known[word] = true
	}
	note := func(flag *pflag.Flag) { known["--"+flag.Name] = true }
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		cmd.Flags().VisitAll(note)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand())
	for file, texts := range textsOf(t, "../..") {
		for _, text := range texts {
			for _, found := range flagWord.FindAllStringSubmatch(text, -1) {
				if !known[found[1]] {
					t.Errorf("%s: there is no flag %s", file, found[1])
				}
			}
		}
	}
}

// flagWord is a flag as a text names it, at the beginning of a word.
var flagWord = regexp.MustCompile("(?:^|[\\s(\"'`,:=\\[])(--[a-z]+(?:-[a-z]+)*)")

// ownCommand is a command of lockcheck's on a page, up to the end of its line.
var ownCommand = regexp.MustCompile(`lockcheck [a-z]+ --.*`)

// textsOf are the strings in the project's Go files, without those of tests, by file, and the commands on the pages.
func textsOf(t *testing.T, root string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || name != root && strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if word, ok := node.(*ast.BasicLit); ok && word.Kind == token.STRING {
				texts[name] = append(texts[name], word.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages(t, root) {
		texts[page] = ownCommand.FindAllString(text, -1)
	}
	return texts
}
