package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// paths is the whole of the HTTP interface; README.md of clusters/client describes it for authors of clients.
var paths = map[string]history.Kind{
	"/read":  history.KindRead,
	"/write": history.KindWrite,
}

// Serve answers requests on l until ctx is done (nil) or the log fails (an error that wraps ErrLog).
//
// The server has no timeouts: a request that a partition holds up for minutes has to be handled when it arrives at last,
// and a connection that was idle until then has to be still there.
func Serve(ctx context.Context, l net.Listener, store *Store) error {
	h := &handler{store: store, failed: make(chan struct{})}
	server := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving the resource on %s: %w", l.Addr(), err)
	case <-h.failed:
		server.Close()
		<-served
		return h.err
	case <-ctx.Done():
	}
	// A moment for replies that are being written: their requests are in the log already.
	bounded, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(bounded) != nil {
		server.Close()
	}
	<-served
	return nil
}

type handler struct {
	store  *Store
	once   sync.Once
	failed chan struct{} // closed when the log failed, after err is set
	err    error
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, ok := paths[r.URL.Path]
	if !ok {
		reply(w, http.StatusNotFound, Answer{Error: fmt.Sprintf("no %s here: want /read or /write", r.URL.Path)})
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		reply(w, http.StatusMethodNotAllowed, Answer{Error: "want POST with a JSON body"})
		return
	}
	ask, err := decode(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		reply(w, http.StatusBadRequest, Answer{Error: err.Error()})
		return
	}
	answer, err := h.store.Handle(kind, ask)
	switch {
	case errors.Is(err, errBadRequest):
		reply(w, http.StatusBadRequest, Answer{Error: err.Error()})
	case err != nil:
		h.once.Do(func() {
			h.err = err
			close(h.failed)
		})
		reply(w, http.StatusInternalServerError, Answer{Error: err.Error()})
	case answer.Outcome == history.Rejected:
		reply(w, http.StatusConflict, answer)
	default:
		reply(w, http.StatusOK, answer)
	}
}

// decode is strict: a client that misspells "token" would otherwise pass for one that has none.
func decode(body io.Reader) (Ask, error) {
	var ask Ask
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ask); err != nil {
		return ask, badRequest("body: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return ask, badRequest("body: something follows the JSON object")
	}
	return ask, nil
}

func reply(w http.ResponseWriter, status int, answer Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone misses its reply; what the request did is in the log.
	_ = json.NewEncoder(w).Encode(answer)
}
