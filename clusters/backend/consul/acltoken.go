package consul

import "net/http"

const (
	tokenHeader = "X-Consul-Token"
	// ownToken is what the library is told: without a token it takes one, and a file with one, from the environment (CONSUL_HTTP_TOKEN),
	// which its user meant for another place. What is sent is a matter of as.
	ownToken = "of the transport"
)

// as sends requests with one token, or with none: nothing of what the environment says to Consul's own programs is sent.
type as struct {
	token string // "" for none
	http.RoundTripper
}

// RoundTrip sends a request.
func (a as) RoundTrip(req *http.Request) (*http.Response, error) {
	own := req.Clone(req.Context())
	own.Header.Del(tokenHeader)
	if a.token != "" {
		own.Header.Set(tokenHeader, a.token)
	}
	said := own.URL.Query()
	said.Del("ns") // of the environment, too: the library has no way to be told of none
	said.Del("partition")
	own.URL.RawQuery = said.Encode()
	return a.RoundTripper.RoundTrip(own)
}

// noRedirect follows no redirection: that would take the token along, which Go strips from none but headers that it knows.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
