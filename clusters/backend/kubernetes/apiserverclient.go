package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"lockcheck/clusters"
)

// front is an API server and how the harness asks it: by HTTP, without any client library's repeated tries.
type front struct {
	clusters.Node
	http  *http.Client
	at    string // host:port
	token string // of the user; "" for who shows a certificate
	of    leases
	bound time.Duration // of one request
}

// leases is where the probes' Lease is. Lock clients use others.
type leases struct{ namespace, probe string }

func newFront(at clusters.Node, dial clusters.Dialer) *front {
	return &front{
		Node: at, http: connecting(dial, &tls.Config{InsecureSkipVerify: true}), // it makes its own certificate
		at: endpoint(at), token: token, of: leases{"default", "probe"}, bound: askTimeout,
	}
}

// connecting makes its connections by a dialer.
func connecting(dial clusters.Dialer, config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: dial, TLSClientConfig: config,
		DisableKeepAlives: true, // one that is kept is lost whenever its server is
	}}
}

func (f *front) close() { f.http.CloseIdleConnections() }

// refused is an answer with another status than 2xx.
type refused struct {
	status int
	body   string
}

func (r *refused) Error() string { return fmt.Sprintf("status %d: %.200s", r.status, r.body) }

// ask makes one request, and returns the answer's body.
func (f *front) ask(ctx context.Context, method, path, kind string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.bound)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+f.at+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if f.token != "" {
		req.Header.Set("Authorization", "Bearer "+f.token)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := f.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = &refused{resp.StatusCode, strings.TrimSpace(string(text))}
	}
	return text, err
}

const (
	asJSON  = "application/json"
	asMerge = "application/merge-patch+json"
)

// ready is an error unless the server says that it is ready.
func (f *front) ready(ctx context.Context) error {
	_, err := f.ask(ctx, http.MethodGet, "/readyz", asJSON, nil)
	return err
}

// ownService is an error unless the server serves the Service that the first API server makes of itself once it is ready.
func (f *front) ownService(ctx context.Context) error {
	_, err := f.ask(ctx, http.MethodGet, "/api/v1/namespaces/default/services/kubernetes", asJSON, nil)
	return err
}

func (f *front) version(ctx context.Context) (string, error) {
	text, err := f.ask(ctx, http.MethodGet, "/version", asJSON, nil)
	var said struct {
		GitVersion string `json:"gitVersion"`
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	return strings.TrimPrefix(said.GitVersion, "v"), err
}

// path is that of a Lease by its name, or of all.
func (l leases) path(name ...string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + strings.Join(append([]string{l.namespace, "leases"}, name...), "/")
}

// lease is what a probe reads and writes of one.
type lease struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   leaseMeta `json:"metadata"`
	Spec       leaseSpec `json:"spec"`
}

type leaseMeta struct {
	Name string `json:"name"`
}

type leaseSpec struct {
	HolderIdentity string `json:"holderIdentity"`
}

// write sets the holder of the probes' Lease, which is made if it is not there.
func (f *front) write(ctx context.Context, value string) error {
	is := lease{"coordination.k8s.io/v1", "Lease", leaseMeta{f.of.probe}, leaseSpec{value}}
	_, err := f.ask(ctx, http.MethodPatch, f.of.path(f.of.probe), asMerge, is)
	if is404(err) {
		_, err = f.ask(ctx, http.MethodPost, f.of.path(), asJSON, is)
	}
	return err
}

func is404(err error) bool {
	r, ok := err.(*refused)
	return ok && r.status == http.StatusNotFound
}

// read is the holder of the probes' Lease.
func (f *front) read(ctx context.Context) (string, error) {
	text, err := f.ask(ctx, http.MethodGet, f.of.path(f.of.probe), asJSON, nil)
	var is lease
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	return is.Spec.HolderIdentity, err
}
