package checker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedRule = regexp.MustCompile(`\b[RJ][0-9]{1,2}\b`)
	// citedWell is "rule R4", "(rules R3, R5 and R6".
	citedWell = regexp.MustCompile(`\brules? [RJ][0-9]{1,2}\b((, | and )[RJ][0-9]{1,2}\b)*`)
)

// What go doc shows of a public identifier says "rule R4", never a bare "R4", and the comment or that of its package says where
// the rules are.
func TestGoDocSaysWhatARuleIs(t *testing.T) {
	found := 0
	for _, root := range []string{".", "../clusters", "../cmd", "../nemesis", "../reports", "../workloads"} {
		err := filepath.WalkDir(root, func(folder string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			comments, about := publicComments(t, folder)
			for at, comment := range comments {
				if !citedRule.MatchString(comment) {
					continue
				}
				found++
				if bare := citedRule.FindString(citedWell.ReplaceAllString(comment, "")); bare != "" {
					t.Errorf("%s cites a bare %s", at, bare)
				}
				if !strings.Contains(about+comment, "checker/RULES.md") {
					t.Errorf("%s cites a rule, and neither this comment nor that of its package says where the rules are", at)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 5 {
		t.Errorf("%d comments cite a rule: nothing was looked at", found)
	}
}

// publicComments are the comments of a folder's public identifiers, their fields and methods among them, by place, and the
// comment of its package.
func publicComments(t *testing.T, folder string) (comments map[string]string, about string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	comments = map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		about += file.Doc.Text()
		ast.FileExports(file)
		for _, decl := range file.Decls {
			if method, ok := decl.(*ast.FuncDecl); ok && ofPrivateType(method) {
				continue
			}
			ast.Inspect(decl, func(node ast.Node) bool {
				if group, ok := node.(*ast.CommentGroup); ok {
					comments[files.Position(group.Pos()).String()] = group.Text()
				}
				return true
			})
		}
	}
	return comments, about
}

func ofPrivateType(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	name, ok := of.(*ast.Ident)
	return ok && !name.IsExported()
}
