package disk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// keeping serves a disk that knows what was not synced.
func keeping(t *testing.T) *served {
	t.Helper()
	return serve(t, "--limbo="+filepath.Join(t.TempDir(), "limbo"))
}

// A power cut leaves what was synced, of content and of names. Each row is a program, what is there before it (synced), and what has to
// be there after the cut; a file is its name and content, a directory its name and "/".
func TestWhatAPowerCutLeaves(t *testing.T) {
	for name, c := range map[string]struct{ before, program, after string }{
		"content without a sync":           {`w f old; s f .`, `w f new`, `f=old`},
		"content with a sync":              {`w f old; s f .`, `w f new; s f`, `f=new`},
		"part of it synced":                {`w f old; s f .`, `w f newer; s f; w f newest`, `f=newer`},
		"an end that was not synced":       {`w f old; s f .`, `a f -more`, `f=old`},
		"an end that was synced":           {`w f old; s f .`, `a f -more; s f; a f -yet`, `f=old-more`},
		"shorter, without a sync":          {`w f oldest; s f .`, `t f 3`, `f=oldest`},
		"shorter, then longer":             {`w f oldest; s f .`, `t f 0; w f brand-new-end`, `f=oldest`},
		"synced through another handle":    {`w f old; s f .`, `w f new; s f`, `f=new`},
		"each write synced":                {`w f old; s f .`, `d f new`, `f=new`},
		"a name without its directory's":   {``, `w f new; s f`, ``},
		"a name with its directory's":      {``, `w f new; s f .`, `f=new`},
		"a name whose content is not":      {``, `w f new; s .`, `f=`},
		"removed without a sync":           {`w f old; s f .`, `rm f`, `f=old`},
		"removed with a sync":              {`w f old; s f .`, `rm f; s .`, ``},
		"written, then removed":            {`w f old; s f .`, `w f new; rm f`, `f=old`},
		"synced, then removed":             {`w f old; s f .`, `w f new; s f; rm f`, `f=new`},
		"removed and made again":           {`w f old; s f .`, `rm f; w f new; s f`, `f=old`},
		"replaced by a rename":             {`w f old; s f .`, `w g new; s g; mv g f`, `f=old`},
		"replaced by a rename, synced":     {`w f old; s f .`, `w g new; s g; mv g f; s .`, `f=new`},
		"replaced, content not synced":     {`w f old; s f .`, `w g new; mv g f; s .`, `f=`},
		"renamed there and back":           {`w f old; s f .`, `mv f g; mv g f`, `f=old`},
		"two names swapped":                {`w f one; w g two; s f g .`, `mv f h; mv g f; mv h g`, `f=one g=two`},
		"to another directory":             {`w f old; mk d; s f d .`, `mv f d/f`, `d/ f=old`},
		"to another directory, old synced": {`w f old; mk d; s f d .`, `mv f d/f; s .`, `d/ d/f=old`},
		"to another directory, new synced": {`w f old; mk d; s f d .`, `mv f d/f; s d`, `d/ d/f=old`},
		"a directory moved":                {`mk d; w d/f old; s d/f d .`, `mv d e; w e/g new; s e/g e`, `d/ d/f=old d/g=new`},
		"a directory removed":              {`mk d; w d/f old; s d/f d .`, `rm d/f; rmdir d`, `d/ d/f=old`},
		"a directory removed for good":     {`mk d; w d/f old; s d/f d .`, `rm d/f; rmdir d; s .`, ``},
		"a directory removed, empty":       {`mk d; w d/f old; s d/f d .`, `rm d/f; s d; rmdir d`, `d/`},
		"a directory made":                 {``, `mk d; w d/f new; s d/f d`, ``},
		"a directory made and synced":      {``, `mk d; w d/f new; s d/f d .`, `d/ d/f=new`},
		"moved into a new directory":       {`w f old; s f .`, `mk d; mv f d/f; s d`, `d/ d/f=old`},
		"a directory over a directory":     {`mk d; mk e; w d/f old; s d/f d e .`, `mv d e`, `d/ d/f=old e/`},
		"a link":                           {`w f old; s f .`, `ln f g`, `f=old`},
		"a link synced, its file removed":  {`w f old; s f .`, `ln f g; s .; rm f; s .`, `g=old`},
	} {
		t.Run(name, func(t *testing.T) {
			s := keeping(t)
			run(t, s.dir, c.before)
			run(t, s.dir, c.program)
			if _, err := s.Cut(within(t), How{}); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, s.dir); got != c.after {
				t.Errorf("left: %q, want %q", got, c.after)
			}
			if got := tree(t, s.data); got != c.after {
				t.Errorf("below the mount: %q, want %q", got, c.after)
			}
		})
	}
}

// With a journal a sync of anything makes all changes of names before it safe.
func TestWhatAPowerCutLeavesOfAJournal(t *testing.T) {
	for name, c := range map[string]struct{ before, program, after string }{
		"a name with its file's sync":     {``, `w f new; s f`, `f=new`},
		"a name with another file's":      {`w g old; s g .`, `w f new; s g`, `f= g=old`},
		"a name after that":               {`w g old; s g .`, `s g; w f new`, `g=old`},
		"renamed, then synced":            {`w f old; s f .`, `w g new; s g; mv g f; s f`, `f=new`},
		"synced, then renamed":            {`w f old; s f .`, `w g new; s g; mv g f`, `f=old g=new`},
		"each write synced":               {``, `d f new`, `f=new`},
		"a directory's content":           {``, `mk d; w d/f new; s d/f`, `d/ d/f=new`},
		"removed, then another is synced": {`w f old; w g old; s f g .`, `rm f; w g new; s g; w g newest`, `g=new`},
		"a directory removed":             {`mk d; w d/f old; s d/f d .`, `rm d/f; rmdir d`, `d/ d/f=old`},
		"a directory removed, synced":     {`mk d; w d/f old; s d/f d .`, `rm d/f; rmdir d; w g new; s g`, `g=new`},
	} {
		t.Run(name, func(t *testing.T) {
			s := keeping(t)
			run(t, s.dir, c.before)
			run(t, s.dir, c.program)
			if _, err := s.Cut(within(t), How{Journaled: true}); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, s.dir); got != c.after {
				t.Errorf("left: %q, want %q", got, c.after)
			}
		})
	}
}

// run carries out a program, a word a command.
func run(t *testing.T, dir, program string) {
	t.Helper()
	for line := range strings.SplitSeq(program, ";") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at := func(n int) string { return filepath.Join(dir, words[n]) }
		var err error
		switch words[0] {
		case "w", "d", "a":
			flags := map[string]int{"w": 0, "d": unix.O_DSYNC, "a": unix.O_APPEND}[words[0]]
			var fd int
			if fd, err = unix.Open(at(1), unix.O_CREAT|unix.O_WRONLY|flags, 0o600); err == nil {
				_, err = unix.Write(fd, []byte(words[2]))
				_ = unix.Close(fd)
			}
		case "t":
			var size int64
			_, _ = fmt.Sscan(words[2], &size)
			err = os.Truncate(at(1), size)
		case "s":
			for n := range words[1:] {
				err = fsync(at(n + 1))
			}
		case "rm", "rmdir":
			err = os.Remove(at(1))
		case "mv":
			err = unix.Rename(at(1), at(2))
		case "mk":
			err = os.Mkdir(at(1), 0o700)
		case "ln":
			err = os.Link(at(1), at(2))
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func fsync(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fsync(fd)
}

// tree lists what is there, without what is the probe's.
func tree(t *testing.T, root string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(root, path); {
		case err != nil:
			return err
		case rel == ".":
		case rel == probeDir || rel == powerDir:
			return filepath.SkipDir
		case d.IsDir():
			all = append(all, rel+"/")
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all = append(all, rel+"="+string(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// What is written into a mapped file lasts once msync returned.
func TestAPowerCutAndMappedFiles(t *testing.T) {
	s := keeping(t)
	path := filepath.Join(s.dir, "db")
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(fd, 4*block); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(fd, 0, 4*block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	copy(mapped, "synced")
	if err := unix.Msync(mapped, unix.MS_SYNC); err != nil {
		t.Fatal(err)
	}
	if err := fsync(s.dir); err != nil {
		t.Fatal(err)
	}
	copy(mapped, "unsync")
	copy(mapped[2*block:], "unsync")
	if err := unix.Munmap(mapped); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	if _, err := s.Cut(within(t), How{}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(path)
	if err != nil || len(left) != 4*block || string(left[:6]) != "synced" || left[2*block] != 0 {
		t.Errorf("%d bytes, %q, %v", len(left), left[:min(6, len(left))], err)
	}
}

// Of a file that is torn a part is kept, and what was synced of it is whole.
func TestATornFile(t *testing.T) {
	const blocks = 64
	kept := map[bool]int{}
	s := keeping(t)
	path := filepath.Join(s.dir, "f")
	if err := os.WriteFile(path, []byte(strings.Repeat("s", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, s.dir, "s f .")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(strings.Repeat("u", blocks*block-10))
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	lost, err := s.Cut(within(t), How{Torn: 7})
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(path)
	if err != nil || string(left[:10]) != strings.Repeat("s", 10) {
		t.Fatalf("%d bytes, %v", len(left), err)
	}
	for at := sector; at < len(left); at += sector {
		kept[left[at] == 'u']++
		if part := left[at:min(at+sector, len(left))]; strings.Trim(string(part), string(part[:1])) != "" {
			t.Errorf("the sector at %d is a mixture", at)
		}
	}
	if all := blocks * block / sector; kept[true] < all/4 || kept[false] < all/4 || lost.KeptBytes == 0 || lost.Bytes == 0 {
		t.Errorf("sectors kept and lost: %v of %d; %v", kept, all, lost)
	}
}

// All that is there can be taken as synced: what a program makes before it serves need not be.
func TestSyncAll(t *testing.T) {
	s := keeping(t)
	run(t, s.dir, "mk d; w d/f old; ln d/f g; w x gone; rm x")
	if err := s.SyncAll(within(t)); err != nil {
		t.Fatal(err)
	}
	run(t, s.dir, "w d/f new; rm g")
	lost, err := s.Cut(within(t), How{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t, s.dir), "d/ d/f=old g=old"; got != want {
		t.Errorf("left: %q, want %q", got, want)
	}
	if want := (Lost{Bytes: 3, Files: 1, Names: 1}); lost != want || lost.String() != "1 kB in 1 file and 1 name" {
		t.Errorf("lost: %+v (%v)", lost, lost)
	}
}

// The disk works on after the cut, and can lose its power again.
func TestAnotherPowerCut(t *testing.T) {
	s := keeping(t)
	run(t, s.dir, "w f one; s f .")
	for range 3 {
		run(t, s.dir, "w f two; w g new")
		if _, err := s.Cut(within(t), How{}); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, s.dir); got != "f=one" {
			t.Errorf("left: %q", got)
		}
	}
	if err := s.Begin(within(t), "r", Rule{Stall: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cut(within(t), How{}); err != nil {
		t.Errorf("while the disk stands still: %v", err)
	}
	if err := s.End(within(t), "r"); err != nil {
		t.Error(err)
	}
	if err := s.Wipe(within(t)); err != nil {
		t.Error(err)
	}
	run(t, s.dir, "w f one; s f .; w f two")
	if _, err := s.Cut(within(t), How{}); err != nil || tree(t, s.dir) != "f=one" {
		t.Errorf("after a wipe: %q, %v", tree(t, s.dir), err)
	}
}

// What a file has beside its names is not seen by who uses the disk.
func TestLimboIsNotSeen(t *testing.T) {
	s := keeping(t)
	script := `set -e; cd "$1"
: >a; ln a b; sync a .; rm b; test "$(stat -c %h a)" = 1; mkdir d; sync d .; rmdir d; test ! -e d; mkdir d e; touch d/x; mv d e; test "$(ls e)" = d
if rmdir e/d 2>/dev/null; then exit 1; fi; rm e/d/x; rmdir e/d e; test "$(ls -A | tr '\n' ' ')" = "a "; exec 3<a; rm a; test "$(cat <&3)" = ""; test -z "$(ls -A)"`
	if out, err := exec.Command("sh", "-ec", script, "sh", s.dir).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := s.SyncAll(within(t)); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, s.data); left != "" {
		t.Errorf("below the mount: %q", left)
	}
}

// A disk that does not know what was synced has no power cuts.
func TestACutIsRefused(t *testing.T) {
	s := serve(t)
	if _, err := s.Cut(within(t), How{}); err == nil || !strings.Contains(err.Error(), errNotKept.Error()) {
		t.Errorf("cut: %v", err)
	}
}
