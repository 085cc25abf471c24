package campaign

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"lockcheck/clusters"
)

// API is a Kubernetes API server, and the few requests that a campaign makes of it. client-go puts the credentials into them. Its typed clients
// would register all types of Kubernetes at each start of a lock client, and read the answer of a pod without a bound.
type API struct {
	Server    string // its URL
	Namespace string // that the configuration names; "default" if none

	client   *http.Client
	renews   bool // client-go takes new credentials when the server refuses the old ones
	requests atomic.Int64
}

// Requests is how many were made so far.
func (a *API) Requests() int64 { return a.requests.Load() }

// StatusError is an answer of the API server that is no success.
type StatusError struct {
	Asked   string // method and path
	Code    int
	Reason  string
	Message string
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: the API server answered %d", e.Asked, e.Code)
	}
	return fmt.Sprintf("%s: %s", e.Asked, e.Message)
}

// hasCode reports whether an error is an answer with this status.
func hasCode(err error, code int) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == code
}

// passing reports whether an error may be gone when the request is made again: the API server is away, or has too much to do.
func passing(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Code == http.StatusTooManyRequests || status.Code >= 500
	}
	var refused refusedError
	var untrusted *tls.CertificateVerificationError
	return err != nil && !errors.As(err, &refused) && !errors.As(err, &untrusted) && !errors.Is(err, clusters.ErrUsage) && !errors.Is(err, clusters.ErrUnavailable)
}

const (
	requestTimeout = 30 * time.Second
	maxAnswer      = 64 << 20 // bytes of one answer: a page of pods is some 5 MB
)

// call makes a request whose answer is JSON. Nothing is sent for a nil body, and nothing is read into a nil answer.
func (a *API) call(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	response, err := a.open(ctx, method, path, query, sent, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("%s %s: the answer cannot be read: %w", method, path, err)
	}
	return nil
}

// open makes a request and leaves the answer's body to the caller. An answer that is no success is a *StatusError.
func (a *API) open(ctx context.Context, method, path string, query url.Values, body io.Reader, header http.Header) (*http.Response, error) {
	target := strings.TrimSuffix(a.Server, "/") + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "application/json, */*")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.send(request)
	if err == nil && response.StatusCode == http.StatusUnauthorized && a.renews && !strings.Contains(path, podProxy) { // no pod may ask for them
		response.Body.Close()
		if request.GetBody != nil {
			request.Body, _ = request.GetBody()
		}
		response, err = a.send(request)
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	status := &StatusError{Asked: method + " " + path, Code: response.StatusCode}
	var said struct{ Reason, Message string }
	if json.Unmarshal(text, &said) == nil {
		status.Reason, status.Message = said.Reason, said.Message
	} else {
		status.Message = string(text[:min(len(text), 300)])
	}
	status.Message = plain(status.Message) // a pod may have written it
	return nil, status
}

// send is one request. Its error wraps clusters.ErrUnavailable if there are no credentials for it.
func (a *API) send(request *http.Request) (*http.Response, error) {
	a.requests.Add(1)
	response, err := a.client.Do(request)
	if sent := (sentError{}); err != nil && !errors.As(err, &sent) {
		err = fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
	}
	return response, err
}
