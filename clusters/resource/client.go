package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"lockcheck/checker/history"
)

// What is certain about a request that failed. Any other error of a Client means that the outcome is unknown.
var (
	// ErrNotSent: the request never got a connection, so not one byte of it left the process. Only this is proof: once
	// there was a connection, a reset or an end of file says nothing about what the other end had read before.
	ErrNotSent = errors.New("not sent to the resource")
	// ErrRefused: the resource says that it did not handle the request (status 4xx but 409): a bug of the client.
	ErrRefused = errors.New("refused by the resource")
	// ErrRejected: the resource compared the request with what it had, and took it for too old.
	ErrRejected = errors.New("rejected by the resource")
)

// Client reads and writes the protected resource. It sends each request once, over connections that it keeps, and waits
// for the answer as long as ctx lets it: the harness decides how long is too long, and records a
// request without an answer as one that may still take effect (rule R8 in checker/RULES.md).
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client of the resource at base: "http://10.0.0.20:8080".
func NewClient(base string) *Client {
	transport := &http.Transport{
		Proxy:               nil, // the resource is on the run's private network, even if the environment names a proxy
		MaxIdleConnsPerHost: 16,
		DisableCompression:  true,
	}
	return &Client{
		base: strings.TrimSuffix(base, "/"),
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close drops the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Read reads the register of ask.Key.
func (c *Client) Read(ctx context.Context, ask Ask) (Answer, error) { return c.post(ctx, "/read", ask) }

// Write writes ask.Value to the register of ask.Key.
func (c *Client) Write(ctx context.Context, ask Ask) (Answer, error) {
	return c.post(ctx, "/write", ask)
}

func (c *Client) post(ctx context.Context, path string, ask Ask) (Answer, error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: request %s: %w", ErrNotSent, ask.Request, err)
	}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: request %s: %w", ErrNotSent, ask.Request, err)
	}
	// Without GetBody the transport cannot send a request a second time on its own.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		if !connected.Load() {
			return Answer{}, fmt.Errorf("%w: request %s: %w", ErrNotSent, ask.Request, err)
		}
		return Answer{}, fmt.Errorf("request %s to the resource: %w", ask.Request, err)
	}
	defer resp.Body.Close()
	return understand(resp, ask)
}

// understand turns a reply into an answer. A reply that cannot be read proves nothing.
func understand(resp *http.Response, ask Ask) (Answer, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return Answer{}, fmt.Errorf("reading the resource's reply to request %s: %w", ask.Request, err)
	}
	var answer Answer
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Answer{}, fmt.Errorf("the resource's reply to request %s: %w", ask.Request, err)
	}
	switch {
	case resp.StatusCode == http.StatusOK && answer.Outcome == history.Applied:
		return answer, nil
	case resp.StatusCode == http.StatusConflict && answer.Outcome == history.Rejected:
		return answer, fmt.Errorf("%w: request %s: %s", ErrRejected, ask.Request, answer.Error)
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return answer, fmt.Errorf("%w: request %s: %s: %s", ErrRefused, ask.Request, resp.Status, answer.Error)
	default:
		return answer, fmt.Errorf("the resource's reply to request %s: %s: %s", ask.Request, resp.Status, answer.Error)
	}
}
