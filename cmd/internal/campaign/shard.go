package campaign

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"
)

// ShardCommand is the hidden command of lockcheck that a pod runs; its arguments are the command of lockcheck whose work the shards are,
// and how many there are.
const ShardCommand = "campaign-shard"

// Outcome is how the work of a shard ended. It lies beside its results, as OutcomeFile.
type Outcome struct {
	Shard    int    `json:"shard"`
	ExitCode int    `json:"exit_code"`
	Log      string `json:"log"` // the end of what was printed
}

// OutcomeFile is the Outcome in a shard's directory.
const OutcomeFile = "shard.json"

// ResultsDir is what a shard's work left, in its directory.
const ResultsDir = "results"

// maxAgain bounds how often an index is run again for the sake of its results; the Job has more tries, for pods that are killed.
const maxAgain = 2

// MayRunAgain reports whether a pod may end without giving its results, so that its index is run again, on whatever node has room. Where
// the cluster does not say how often that was done it is not done.
func MayRunAgain() bool {
	failures, err := strconv.Atoi(os.Getenv(envFailures))
	return err == nil && failures < maxAgain
}

// Work is what a shard has to do. It reads the plan, leaves all that it makes in dir, and is an error only if it was ended before its
// end: nothing is served then, and the index is run again.
type Work func(ctx context.Context, plan []byte, shard, shards int, dir string) (Outcome, error)

// RunShard is what a pod does: the work of its index, and then serving the results until they were fetched. An error ends the pod, and
// the index is run again.
func RunShard(ctx context.Context, shards int, work Work) error {
	index, err := strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX"))
	if err != nil {
		return errors.New("JOB_COMPLETION_INDEX is no number: this command is for the pods of a campaign")
	}
	file, err := os.Open(filepath.Join(planDir, planKey))
	if err != nil {
		return err
	}
	defer file.Close()
	plan, err := unpack(file)
	if err != nil {
		return fmt.Errorf("the plan cannot be read: %w", err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	s := &shardServer{dir: filepath.Join(workDir, ResultsDir), token: os.Getenv(envToken), keepAll: os.Getenv(envKeep) == "all", fetched: make(chan struct{})}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: requestTimeout}
	go func() { _ = server.Serve(listener) }()
	outcome, err := work(ctx, plan, index+1, shards, s.dir)
	if err != nil {
		return err
	}
	s.outcome.Store(&outcome)
	select {
	case <-ctx.Done():
		return errors.New("ended before its results were fetched")
	case <-s.fetched:
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout) // the last answer is on its way
	defer cancel()
	_ = server.Shutdown(ending)
	return nil
}

// endTimeout bounds how long a pod whose results were fetched waits for requests that are still at work.
const endTimeout = 10 * time.Second

// shardServer serves the results of one shard.
type shardServer struct {
	dir, token string
	keepAll    bool
	outcome    atomic.Pointer[Outcome] // nil until the work is done
	fetched    chan struct{}           // closed once they were fetched
	once       atomic.Bool
}

// tokenHeader shows that one may have the results, and say that they were fetched: the network of pods is not only ours.
const tokenHeader = "X-Lockcheck-Token"

func (s *shardServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.outcome.Load() == nil {
			http.Error(w, "at work", http.StatusServiceUnavailable)
		}
	})
	known := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case s.token == "", subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(s.token)) != 1:
				http.Error(w, "the token is not that of this campaign", http.StatusForbidden)
			case s.outcome.Load() == nil:
				http.Error(w, "at work", http.StatusServiceUnavailable)
			default:
				then(w, r)
			}
		}
	}
	mux.HandleFunc("GET /results", known(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		if err := s.archive(w); err != nil {
			panic(http.ErrAbortHandler) // an archive that ends early must not look whole
		}
	}))
	mux.HandleFunc("POST /fetched", known(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if s.once.CompareAndSwap(false, true) {
			close(s.fetched)
		}
	}))
	return mux
}

func (s *shardServer) archive(w io.Writer) error {
	outcome, err := json.MarshalIndent(s.outcome.Load(), "", "  ")
	if err != nil {
		return err
	}
	return pack(w, s.dir, s.keepAll, outcome)
}
