package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/rundir"
)

// revealing is a recorded run whose logs, and whose plan, tell more than a stranger should read.
func revealing(t *testing.T) string {
	t.Helper()
	run := record(t, true)
	replaceIn(t, filepath.Join(run, rundir.PlanFile), `"seed": 3`, `"seed": 3,
  "command": ["lockcheck", "run", "--resource=https://shop.corp.example/orders", "--client=exec:./mylock --password=hunter2"]`)
	for name, text := range map[string]string{
		"nodes/n1/etcd.log":     "listening on 10.4.5.6:2379 for shop.corp.example\n-----BEGIN PRIVATE KEY-----\nMIIEhunter2\n-----END PRIVATE KEY-----\n",
		"nodes/c1/c1.log":       "BlueTeam: connecting to redis://:hunter2@10.4.5.6\n",
		"nodes/c1/settings.txt": "hunter2, which is no log of ours\n",
	} {
		file := filepath.Join(run, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(run, "nodes/c1/link.log")); err != nil {
		t.Fatal(err)
	}
	return run
}

func replaceIn(t *testing.T, file, was, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), was) {
		t.Fatal(err, string(text))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), was, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unpacked(t *testing.T, file string) (folder string, all []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for packed := tar.NewReader(zipped); ; {
		header, err := packed.Next()
		if err == io.EOF {
			return folder, all
		}
		if err != nil || !filepath.IsLocal(header.Name) || header.Uname != "" || header.Typeflag != tar.TypeReg {
			t.Fatal(header, err)
		}
		content, err := io.ReadAll(packed)
		path := filepath.Join(to, header.Name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(header.Name, "/")
		folder, all = filepath.Join(to, first), append(append(all, header.Name...), content...)
	}
}

func TestABundleIsJudgedAsTheRunAndRevealsNothing(t *testing.T) {
	run, file := revealing(t), filepath.Join(t.TempDir(), "run.tgz")
	own := lockcheck(t, "check", run, "--quiet")
	got := lockcheck(t, "bundle", run, "--out="+file, "--hide=blueteam", "--yes")
	if got.code != exitPass || !strings.Contains(got.stdout, "shop.corp.example → host-1.example") || !strings.Contains(got.stdout, "UNSAFE") {
		t.Fatal(got)
	}
	folder, all := unpacked(t, file)
	for _, word := range []string{"hunter2", "shop.corp", "10.4.5.6", "blueteam", "root:x:"} {
		if strings.Contains(strings.ToLower(string(all)), word) {
			t.Errorf("the bundle has %q", word)
		}
	}
	for _, word := range []string{"listening on 198.18.0.", "https://host-1.example/orders", "lockcheck check ."} {
		if !strings.Contains(string(all), word) {
			t.Errorf("the bundle lacks %q", word)
		}
	}
	if again := lockcheck(t, "check", folder, "--quiet"); again.code != exitViolation || again.stdout != own.stdout {
		t.Errorf("the run: %s\nits bundle: %+v", own.stdout, again)
	}
}

func TestABundleThatCannotBeIsRefused(t *testing.T) {
	run := record(t, true)
	exists := filepath.Join(t.TempDir(), "mine.tgz")
	if err := os.WriteFile(exists, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	cut := record(t, true)
	if err := os.Truncate(filepath.Join(cut, rundir.HistoryFile), 900); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.tgz")
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no run":                         {[]string{t.TempDir(), "--yes"}, rundir.PlanFile},
		"two runs":                       {[]string{run, run}, "2 were given"},
		"no terminal to ask on":          {[]string{run}, "with --yes it is written"},
		"a recording that was cut short": {[]string{cut, "--yes"}, rundir.HistoryFile},
		"a file that exists":             {[]string{run, "--yes", "--out=" + exists}, "exists"},
		"a word that names the backend":  {[]string{run, "--yes", "--hide=ETCD"}, "--hide=ETCD"},
		"a word of the recording":        {[]string{run, "--yes", "--hide=acquire"}, "also a word of the recording"},
		"no word":                        {[]string{run, "--yes", "--hide= "}, "--hide"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"bundle"}, test.args...)
			if !strings.Contains(strings.Join(args, " "), "--out=") {
				args = append(args, "--out="+file)
			}
			got := lockcheck(t, args...)
			if got.code != exitUsage || !strings.Contains(got.stderr, test.says) {
				t.Errorf("exit %d, want %q:\n%s", got.code, test.says, got.stderr)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("it was written")
			}
		})
	}
	nowhere := filepath.Join(t.TempDir(), "no", "such", "run.tgz")
	if got := lockcheck(t, "bundle", run, "--yes", "--out="+nowhere); got.code != exitUnavailable || !strings.Contains(got.stderr, nowhere) {
		t.Errorf("a folder that is missing: exit %d\n%s", got.code, got.stderr)
	}
	if text, err := os.ReadFile(exists); err != nil || string(text) != "mine" {
		t.Error("a file of the user's was overwritten", err)
	}
}
