package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"lockcheck/clusters"
)

// Store is where the shards of a campaign lie on this machine, each in a directory named by its number: there are whole ones only.
type Store struct {
	Dir string
	// Accept is an error unless the results of a shard are what they should be. That error ends the campaign.
	Accept func(dir string, outcome Outcome) error

	have *have
	sync func(name string) error // syncPath
}

type have struct {
	mu     sync.Mutex
	shards map[int]bool
}

// partial is what the directory of a shard that is being written begins with.
const partial = ".partial-"

// OpenStore makes the directory of a campaign's shards, or goes on with one; what an earlier program had not finished is removed.
func OpenStore(dir string, accept func(dir string, outcome Outcome) error) (Store, error) {
	s := Store{Dir: dir, Accept: accept, have: &have{shards: map[int]bool{}}, sync: syncPath}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return s, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return s, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), partial) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return s, err
			}
		}
		if n, err := strconv.Atoi(entry.Name()); err == nil && n > 0 && entry.IsDir() {
			s.have.shards[n] = true
		}
	}
	// An earlier program may have ended between a rename and its sync, and the pod of that shard is told by this one.
	return s, s.sync(dir)
}

// ShardDir is the directory of a shard.
func (s Store) ShardDir(shard int) string { return filepath.Join(s.Dir, strconv.Itoa(shard)) }

// Has reports whether a shard was fetched.
func (s Store) Has(shard int) bool {
	s.have.mu.Lock()
	defer s.have.mu.Unlock()
	return s.have.shards[shard]
}

// Count is how many shards were fetched.
func (s Store) Count() int {
	s.have.mu.Lock()
	defer s.have.mu.Unlock()
	return len(s.have.shards)
}

// take writes a shard from its archive: first beside its place, and into it only once it is whole and on the disk.
func (s Store) take(shard int, archive io.Reader) error {
	dir := filepath.Join(s.Dir, fmt.Sprintf("%s%d-%s", partial, shard, random(4)))
	defer os.RemoveAll(dir)
	if err := unpackShard(archive, dir); err != nil {
		return err
	}
	file := filepath.Join(dir, OutcomeFile)
	if info, err := os.Lstat(file); err == nil && (!info.Mode().IsRegular() || info.Size() > maxOutcome) {
		return fmt.Errorf("%w: the results of shard %d have %d bytes in %s: is the image that of lockcheck?", clusters.ErrUsage, shard, info.Size(), OutcomeFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: the results of shard %d lack %s: is the image that of lockcheck?", clusters.ErrUsage, shard, OutcomeFile)
	}
	var outcome Outcome
	if err := json.Unmarshal(text, &outcome); err != nil || outcome.Shard != shard {
		return fmt.Errorf("%w: the results of shard %d say that they are those of shard %d (%v)", clusters.ErrUsage, shard, outcome.Shard, err)
	}
	if err := s.Accept(filepath.Join(dir, ResultsDir), outcome); err != nil {
		return refusedError{err}
	}
	if err := syncTree(dir, s.sync); err != nil {
		return err
	}
	s.have.mu.Lock()
	defer s.have.mu.Unlock()
	if s.have.shards[shard] {
		return nil // of a second pod of this index
	}
	if err := os.Rename(dir, s.ShardDir(shard)); err != nil {
		return err
	}
	if err := s.sync(s.Dir); err != nil {
		return err
	}
	s.have.shards[shard] = true
	return nil
}

// maxOutcome bounds an Outcome, in bytes: its log is the end of what was printed.
const maxOutcome = 1 << 20

// refusedError is that of Accept.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// idleTimeout ends the reading of an archive of which nothing more comes.
const idleTimeout = time.Minute

// fetch reads the results of one pod, unless they are here, and tells it so.
func (f *Follow) fetch(ctx context.Context, pod podObject) error {
	shard := pod.index() + 1
	if shard < 1 || shard > f.Shards {
		return nil // not a pod of ours
	}
	if !f.Store.Has(shard) {
		if err := f.read(ctx, pod, shard); err != nil {
			return err
		}
	}
	// What does not arrive is said again as long as the pod is ready.
	err := f.API.callPod(ctx, f.proxied(pod, "/fetched"), f.Token)
	if err != nil && !hasCode(err, http.StatusNotFound) {
		return f.asked("tell the pod "+pod.Metadata.Name+" that its results were fetched", fmt.Errorf("the pod %s: %w", pod.Metadata.Name, err))
	}
	return nil
}

// podProxy is in the path of what the API server passes on to a pod.
const podProxy = "/proxy/"

func (f *Follow) proxied(pod podObject, path string) string {
	return fmt.Sprintf("%s/%s:%d%s%s", f.pods(), pod.Metadata.Name, port, podProxy, strings.TrimPrefix(path, "/"))
}

func (f *Follow) read(ctx context.Context, pod podObject, shard int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(idleTimeout, func() { cancel(fmt.Errorf("nothing came for %v", idleTimeout)) })
	defer idle.Stop()
	response, err := f.API.open(ctx, http.MethodGet, f.proxied(pod, "/results"), nil, nil, http.Header{tokenHeader: {f.Token}})
	if err != nil {
		return f.asked("read the results of the pod "+pod.Metadata.Name, fmt.Errorf("shard %d: %w", shard, err))
	}
	defer response.Body.Close()
	err = f.Store.take(shard, &watched{response.Body, func() { idle.Reset(idleTimeout) }})
	var local *fs.PathError
	var renamed *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &local), errors.As(err, &renamed), errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: cannot keep the results of shard %d: %w", clusters.ErrUnavailable, shard, err)
	case !passing(err):
		return err
	}
	return fmt.Errorf("the results of shard %d did not come whole: %w", shard, errors.Join(err, context.Cause(ctx)))
}

// watched notes each time that something was read.
type watched struct {
	io.Reader
	read func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.read()
	return n, err
}

// callPod posts something to a pod.
func (a *API) callPod(ctx context.Context, path, token string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := a.open(ctx, http.MethodPost, path, nil, nil, http.Header{tokenHeader: {token}})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
