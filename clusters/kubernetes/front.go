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

	"lockcheck/clusters"
)

// front is an API server and how the harness asks it: by HTTP, without any client library's repeated tries.
type front struct {
	clusters.Node
	http *http.Client
}

func newFront(at clusters.Node, dial clusters.Dialer) *front {
	return &front{at, &http.Client{Transport: &http.Transport{
		DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // it makes its own certificate
		DisableKeepAlives: true, // one that is kept is lost whenever its server is
	}}}
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
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+endpoint(f)+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
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

const asJSON = "application/json"

// ready is an error unless the server says that it is ready.
func (f *front) ready(ctx context.Context) error {
	_, err := f.ask(ctx, http.MethodGet, "/readyz", asJSON, nil)
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

// Probes write one Lease. Lock clients use others.
const (
	leases    = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	probeName = "probe"
)

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
	is := lease{"coordination.k8s.io/v1", "Lease", leaseMeta{probeName}, leaseSpec{value}}
	_, err := f.ask(ctx, http.MethodPatch, leases+"/"+probeName, "application/merge-patch+json", is)
	if is404(err) {
		_, err = f.ask(ctx, http.MethodPost, leases, asJSON, is)
	}
	return err
}

func is404(err error) bool {
	r, ok := err.(*refused)
	return ok && r.status == http.StatusNotFound
}

// read is the holder of the probes' Lease.
func (f *front) read(ctx context.Context) (string, error) {
	text, err := f.ask(ctx, http.MethodGet, leases+"/"+probeName, asJSON, nil)
	var is lease
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	return is.Spec.HolderIdentity, err
}
