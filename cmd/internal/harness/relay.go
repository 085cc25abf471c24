package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lockcheck/clusters"
	"lockcheck/workloads"
)

// envRelay leads the inner process of a run to the socket of the outer one's relay.
const envRelay = "LOCKCHECK_RELAY"

// relayTo opens a way out of a run's network to a resource that others run, and to nothing else: a socket in the file system, at which
// this process, which is outside, passes requests on to the URL. A run that is made inside namespaces finds the socket by its
// environment. Nothing is repeated: a request whose answer is lost stays one of unknown outcome.
func relayTo(tested *workloads.Tested) (dir string, closed func(), err error) {
	if socket := os.Getenv(envRelay); socket != "" {
		tested.Relay = socket
		return filepath.Dir(socket), func() {}, nil
	}
	to, err := url.Parse(tested.URL)
	if err != nil || to.Host == "" {
		return "", nil, Usage(fmt.Errorf("--resource=%s is no URL such as http://storage.example:8080", tested.URL))
	}
	to.Path = strings.TrimSuffix(to.Path, "/")
	sweepRelays()
	if dir, err = os.MkdirTemp("", relayDir); err != nil {
		return "", nil, fmt.Errorf("the way out to %s: %w", tested.URL, err)
	}
	tested.Relay = filepath.Join(dir, "s")
	l, err := net.Listen("unix", tested.Relay)
	if err != nil {
		return "", nil, fmt.Errorf("the way out to %s: %w", tested.URL, err)
	}
	if err := os.Setenv(envRelay, tested.Relay); err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: passingOn(to)}
	go func() { _ = server.Serve(l) }()
	return dir, func() {
		_ = server.Close()
		_ = os.RemoveAll(dir)
		_ = os.Unsetenv(envRelay)
	}, nil
}

// relayDir begins the names of the directories of sockets.
const relayDir = "lockcheck-relay-"

// sweepRelays removes the directories of runs that were killed: nothing listens at their sockets any more.
func sweepRelays() {
	sockets, _ := filepath.Glob(filepath.Join(os.TempDir(), relayDir+"*", "s"))
	for _, socket := range sockets {
		connection, err := net.Dial("unix", socket)
		switch {
		case err == nil:
			connection.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.RemoveAll(filepath.Dir(socket))
		}
	}
}

// passingOn hands requests to a service as they are, each once.
func passingOn(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to) // and its host
			r.Out.GetBody = nil
		},
		Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 128, DisableCompression: true, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { // what became of it is not known
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
		FlushInterval: -1,
	}
}

// forward is the end of that way inside the run's network: what connects to listen is connected to the socket.
func forward(ctx context.Context, listen, socket string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("the resource listening on %s: %w", listen, err)
	}
	go func() {
		<-ctx.Done()
		l.Close()
	}()
	for {
		inside, err := l.Accept()
		if err != nil {
			return nil
		}
		go join(inside, socket)
	}
}

func join(inside net.Conn, socket string) {
	defer inside.Close()
	outside, err := net.Dial("unix", socket)
	if err != nil {
		return // the client sees its connection end: an unknown outcome
	}
	defer outside.Close()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{inside, outside}, {outside, inside}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// reach opens what a resource under test needs before a provider is opened. The error is the user's, or of this machine.
func reach(config *workloads.Config, at *Where) (closed func(), err error) {
	if config.Tested == nil || config.Tested.URL == "" {
		return func() {}, nil
	}
	dir, closed, err := relayTo(config.Tested)
	if err != nil {
		return func() {}, fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
	}
	at.keep = append(at.keep, dir)
	return closed, nil
}
