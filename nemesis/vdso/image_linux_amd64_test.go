package vdso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/nemesis/testkit"
)

// ownVDSO is a copy of this process's vDSO.
func ownVDSO(t testing.TB) []byte {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, " [vdso]\n") {
			base, size, err := mapping(line)
			if err != nil {
				t.Fatal(err)
			}
			copied := make([]byte, size)
			if err := readMemory(os.Getpid(), base, copied); err != nil {
				t.Fatal(err)
			}
			return copied
		}
	}
	t.Fatal("this process has no vDSO")
	return nil
}

func TestAVDSOThatIsNotKnownIsRefused(t *testing.T) {
	original := ownVDSO(t)
	img, err := parseImage(0x7000, original)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes for a patch of %d", len(original)-img.patch, doorsAt+len(patchCode()))
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"32 bits":         {func(b []byte) []byte { b[4] = 1; return b }, ""},
		"another machine": {func(b []byte) []byte { b[18] = 183; return b }, "EM_AARCH64"},
		"no ELF":          {func(b []byte) []byte { return make([]byte, len(b)) }, "magic"},
		"cut off":         {func(b []byte) []byte { return b[:4096] }, ""},
		"an i386 program": {func([]byte) []byte { return pause32 }, "only 64-bit processes"},
		"no padding":      {func(b []byte) []byte { return b[:img.patch+100] }, "100 bytes of padding"},
		"no gettimeofday": {func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("__vdso_gettimeofday"), []byte("__what_gettimeofday"))
		}, "no function __vdso_gettimeofday"},
		"used padding":      {func(b []byte) []byte { b[len(b)-1] = 1; return b }, "in use"},
		"another marker":    {func(b []byte) []byte { copy(b[img.patch:], "lockchk2"); return b }, "in use"},
		"jump, no marker":   {func(b []byte) []byte { copy(b[img.entry[0]:], img.jumpInto(0)); return b }, "in use"},
		"another version":   {func(b []byte) []byte { copy(b[img.entry[0]:], img.jumpInto(0)); copy(b[img.patch:], marker); return b }, "another version"},
		"entry across word": {func(b []byte) []byte { return moveSymbols(b, 5) }, "begins at"},
	} {
		t.Run(name, func(t *testing.T) {
			mapped := c.change(bytes.Clone(original))
			img, err := parseImage(0x7000, mapped)
			if err == nil {
				_, err = img.findPatch(mapped)
			}
			if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want one that says %q", err, c.want)
			}
		})
	}
}

// moveSymbols adds to the address of each function of a vDSO.
func moveSymbols(b []byte, by uint64) []byte {
	img, err := parseImage(0, b)
	if err != nil {
		panic(err)
	}
	const size = 24 // of a symbol: name, info, other, section, value (at 8), size
	for _, entry := range img.entry {
		value := binary.LittleEndian.AppendUint64(nil, entry)
		for at := 0; at+size <= img.patch; at += 8 {
			if bytes.Equal(b[at+8:at+16], value) {
				binary.LittleEndian.PutUint64(b[at+8:], entry+by)
			}
		}
	}
	return b
}

// A writer may die between any two words. The next one has to find its way, and until then each function runs either the
// original or the patch with a whole set.
func TestAWriterThatDiesLeavesNothingThatTheNextCannotMend(t *testing.T) {
	for words := range 100 {
		p := startClock(t)
		complete := dieAfter(t, p.pid(), words)
		if wall, mono := p.sees(); !testkit.Near(wall, 0) && !testkit.Near(wall, time.Hour) || !testkit.Near(mono, 0) && !testkit.Near(mono, time.Minute) {
			t.Errorf("after %d words it sees %v and %v", words, wall, mono)
		}
		if !complete && words%3 == 0 {
			heal(t, p.pid())
			if _, mono := p.sees(); !testkit.Near(mono, 0) && !testkit.Near(mono, time.Minute) {
				t.Errorf("healed after %d words it sees its monotonic clock off by %v", words, mono)
			}
		}
		apply(t, p.pid(), Skew{Wall: Shift{Offset: 2 * time.Hour}})
		if wall, _ := p.sees(); !testkit.Near(wall, 2*time.Hour) {
			t.Errorf("patched after %d words it sees %v", words, wall)
		}
		p.end()
		if complete {
			return
		}
	}
	t.Error("the writing never ended")
}

// And a change of a patch that is in use: it shows the old skew or the new one.
func TestAWriterThatDiesLeavesTheOldSkewOrTheNew(t *testing.T) {
	p := startClock(t)
	for words := 0; ; words++ {
		apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}, Monotonic: Shift{Offset: time.Second}})
		time.Sleep(3 * testkit.Within) // by as much would a mixture of the two be off
		_, mono := p.sees()
		complete := dieAfter(t, p.pid(), words)
		wall, got := p.sees()
		if !testkit.Near(wall, time.Hour) || !testkit.Near(got, mono) && !testkit.Near(got, mono+time.Minute) {
			t.Errorf("after %d words it sees %v and %v, want 1h and %v or a minute more", words, wall, got, mono)
		}
		if complete {
			return
		}
	}
}

var errDied = errors.New("died")

// dieAfter writes a patch but stops after so many words. It reports whether that was all.
func dieAfter(t *testing.T, pid, words int) bool {
	t.Helper()
	target, err := findTarget(pid)
	if err != nil {
		t.Fatal(err)
	}
	err = withStopped(pid, func(s *stopped) error {
		img, p, err := target.read(s.any().read)
		if err != nil {
			return err
		}
		at, err := now()
		if err != nil {
			return err
		}
		next, err := p.inForce().next(at, Skew{Wall: Shift{Offset: time.Hour}, Monotonic: Shift{Offset: time.Minute}, Expiry: time.Hour})
		if err != nil {
			return err
		}
		return img.write(func(at uint64, data []byte) error {
			for chunk := range slices.Chunk(data, wordSize) {
				if words--; words < 0 {
					return errDied
				}
				if err := s.any().write(at, chunk); err != nil {
					return err
				}
				at += wordSize
			}
			return nil
		}, p, next)
	})
	if err != nil && !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	return err == nil
}
