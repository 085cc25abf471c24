package main

import (
	"fmt"
	"net/http"
)

// homebound follows no redirection: net/http would, and client-go shows the token to the server that it is sent to. An API server never redirects what
// electors ask for.
type homebound struct{ next http.RoundTripper }

func (h homebound) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.next.RoundTrip(req)
	if err == nil && resp.Header.Get("Location") != "" && resp.StatusCode/100 == 3 {
		resp.Body.Close()
		return nil, fmt.Errorf("the API server answers %s to %s: no redirection is followed", resp.Status, req.URL.Path)
	}
	return resp, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (h homebound) WrappedRoundTripper() http.RoundTripper { return h.next }
