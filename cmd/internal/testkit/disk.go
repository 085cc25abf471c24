//go:build linux

// Package testkit makes disks that tests may fill up or lock: real file systems, because a mode bit binds no root and an
// error that a test makes up is not the kernel's.
package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Small mounts a file system of so many bytes, rounded up to pages, until the test ends. Where that is not permitted the
// test is skipped; with CI=true it fails.
func Small(t *testing.T, bytes int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("disktest", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size="+strconv.Itoa(bytes)); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mounting a small tmpfs: %v", err)
		}
		t.Skipf("mounting a small tmpfs: %v (it takes root)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return dir
}

// Fill leaves no room on the disk that dir is on. Any goroutine may call it.
func Fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Errorf("filling %s: %v", dir, err)
		return
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("filling %s: %v", dir, err)
	}
}

// ReadOnly lets nothing be written any more to a disk that Small made.
func ReadOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		t.Fatalf("making %s read-only: %v", dir, err)
	}
}
