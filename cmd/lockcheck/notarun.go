package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// archives are endings of files in which runs are often passed on, and what unpacks them.
var archives = []struct {
	ending string
	unpack []string
}{
	{".tar.gz", []string{"tar", "-xf"}}, {".tgz", []string{"tar", "-xf"}}, {".tar", []string{"tar", "-xf"}},
	{".tar.xz", []string{"tar", "-xf"}}, {".tar.zst", []string{"tar", "-xf"}}, {".tar.bz2", []string{"tar", "-xf"}},
	{".zip", []string{"unzip"}}, {".7z", []string{"7z", "x"}},
}

// otherThanARun is an error if what is to be judged is something else that lockcheck or CI makes, and says what to do with that.
func otherThanARun(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // that it is not there has its own error
	}
	if !info.IsDir() {
		for _, a := range archives {
			if strings.HasSuffix(strings.ToLower(path), a.ending) {
				return fmt.Errorf("%s is an archive: unpack it (%s), and give the run directory that was in it", path, words.ShellWords(append(a.unpack, path)))
			}
		}
		return nil
	}
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(path, name))
		return err == nil
	}
	if has(rundir.PlanFile) || !has(compare.JSONFile) {
		return nil
	}
	example := ""
	if runs, _ := filepath.Glob(filepath.Join(path, compare.RunsDir, "*", "*", rundir.PlanFile)); len(runs) > 0 {
		example = ", such as " + words.ShellWords([]string{"lockcheck", "check", filepath.Dir(runs[0])})
	}
	return fmt.Errorf("%s is the directory of a comparison, not of a run: %s judges its recordings again; check takes one of its runs%s",
		path, words.ShellWords([]string{"lockcheck", "compare", "--check=" + path}), example)
}
