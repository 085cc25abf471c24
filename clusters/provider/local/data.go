//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockcheck/clusters"
)

// home is the directory of all that a host keeps.
func (h *host) home() (string, error) {
	dir := filepath.Join(h.site.data, h.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("data directory of host %s: %w", h.name, err)
	}
	return dir, nil
}

func (h *host) DataDir(name string) (string, error) {
	if err := clusters.CheckName("data directory of host "+h.name, name); err != nil {
		return "", err
	}
	if h.onDisks {
		return h.mounted(name)
	}
	dir := filepath.Join(h.site.data, h.name, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("data directory %s of host %s: %w", name, h.name, err)
	}
	return dir, nil
}

func (h *host) Wipe(ctx context.Context, name string) error {
	dir, err := h.DataDir(name)
	if d := h.disk(name); err == nil && d != nil {
		return d.Wipe(ctx)
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err == nil {
		_, err = h.DataDir(name)
	}
	if err != nil {
		return fmt.Errorf("wipe %s of host %s: %w", name, h.name, err)
	}
	return ctx.Err()
}

// place writes files that are not there yet. It writes nowhere but below the data directory: the rest of the file system
// is this machine's.
func (h *host) place(data string, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	dir, err := h.DataDir(data)
	if err != nil {
		return err
	}
	for path, content := range files {
		if rel, err := filepath.Rel(dir, path); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return fmt.Errorf("file %s is not below the data directory %s", path, dir)
		}
		path = h.past(data, dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}
