package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"lockcheck/checker/history"
)

// Keeper is a database server as a resource under test: it decides a request, keeps what came of it and logs that, all in one
// transaction of its own. Requests may come at the same time.
type Keeper interface {
	// Handle does a request that is in order, once: a repetition gets the line of the first time. A write whose idempotency key has
	// been applied on its key gets the line of that one, and leaves one of its own that says duplicate and names it. The error says that
	// what became of it is not known.
	Handle(ctx context.Context, kind history.Kind, ask Ask) (history.Request, error)
	// Log passes on what was handled, in the order of effects within each key. Seq and times are not filled in.
	Log(ctx context.Context, pass func(history.Request) error) error
	// Ping is an error while the server does not answer.
	Ping(ctx context.Context) error
	Close()
}

// KeeperMode is how a Keeper is served.
type KeeperMode struct {
	Name string // and version, for reports
	// WithoutTokens leaves the tokens of requests out, as if none had been sent: it then compares nothing.
	WithoutTokens bool
}

// ServeKeeper answers requests on l as README.md has it of a resource under test, until ctx is done.
func ServeKeeper(ctx context.Context, l net.Listener, keeper Keeper, mode KeeperMode) error {
	server := &http.Server{Handler: &kept{keeper, mode}}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(l); ctx.Err() == nil {
		return fmt.Errorf("serving the resource on %s: %w", l.Addr(), err)
	}
	return nil
}

type kept struct {
	keeper Keeper
	mode   KeeperMode
}

func (k *kept) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/hello":
		k.hello(w, r)
	case r.Method == http.MethodGet && r.URL.Path == "/log":
		k.log(w, r)
	case r.Method == http.MethodPost && paths[r.URL.Path] != "":
		k.handle(w, r, paths[r.URL.Path])
	default:
		reply(w, http.StatusNotFound, Answer{Error: "want POST /read or /write, GET /hello or /log"})
	}
}

// pingTimeout bounds the look whether the server behind is there.
const pingTimeout = 500 * time.Millisecond

func (k *kept) hello(w http.ResponseWriter, r *http.Request) {
	bounded, cancel := context.WithTimeout(r.Context(), pingTimeout)
	defer cancel()
	if err := k.keeper.Ping(bounded); err != nil {
		reply(w, http.StatusServiceUnavailable, Answer{Error: err.Error()})
		return
	}
	compares := history.CompareTokens
	if k.mode.WithoutTokens {
		compares = history.CompareNothing
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Hello{Name: k.mode.Name, Compares: history.ComparisonNames[compares], IdempotencyKeys: true})
}

func (k *kept) handle(w http.ResponseWriter, r *http.Request, kind history.Kind) {
	ask, err := decode(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		_, err = ask.check(kind)
	}
	if err != nil {
		reply(w, http.StatusBadRequest, Answer{Error: err.Error()})
		return
	}
	if k.mode.WithoutTokens {
		ask.Token = ""
	}
	// What was begun is not called off because its client is gone: that would be one more thing that may have happened.
	line, err := k.keeper.Handle(context.WithoutCancel(r.Context()), kind, ask)
	switch {
	case err != nil:
		reply(w, http.StatusServiceUnavailable, Answer{Error: err.Error()})
	case line.Outcome == history.Rejected:
		reply(w, http.StatusConflict, Answer{Outcome: line.Outcome, Mark: line.Mark, Error: fmt.Sprintf("token %s is lower than %s", line.Token, line.Mark)})
	default:
		reply(w, http.StatusOK, Answer{Outcome: line.Outcome, Mark: line.Mark, Value: line.Value})
	}
}

// log writes line after line. Where it cannot go on the connection is broken off, so that no end of it is taken for the whole.
func (k *kept) log(w http.ResponseWriter, r *http.Request) {
	lines := json.NewEncoder(w)
	err := k.keeper.Log(r.Context(), func(q history.Request) error { return lines.Encode(q) })
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}
