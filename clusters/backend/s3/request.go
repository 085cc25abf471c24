package s3

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// store is one bucket as it is reached at one endpoint. A client of three methods needs no library: those compile in 90 s and more.
type store struct {
	http           *http.Client
	base           string // of URLs
	region         string
	learns         bool   // the region is a guess: a store that has another says which
	user, password string // the access key and its secret; "" for requests that are not signed
	bucket         string
}

// dialer makes connections as net.Dialer.DialContext does.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// newStore speaks TLS unless config is nil. A dialer of nil is the usual one, and its connections are kept: those of the harness are not, they
// are lost with their server.
func newStore(endpoint string, of client.Access, region, bucket string, dial dialer) (*store, error) {
	config, err := of.Config()
	if err != nil {
		return nil, err
	}
	s := &store{http: connecting(dial, config), base: "http://" + endpoint, region: region, user: of.Username, password: of.Password.Reveal(), bucket: bucket}
	if config != nil {
		s.base = "https://" + endpoint
	}
	return s, nil
}

func connecting(dial dialer, config *tls.Config) *http.Client {
	return &http.Client{
		// No proxy: the run's network is private, even if the environment names one.
		Transport:     &http.Transport{DialContext: dial, TLSClientConfig: config, DisableKeepAlives: dial != nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what the store said to a request that it carried out.
type answer struct {
	etag   string // as it stands there, with its quotes
	server string
	body   []byte
}

// failure is an answer that says that the store did not carry it out, or does not know.
type failure struct {
	asked  string // method and path
	status int
	Code   string // "NoSuchKey"; "" if the answer has none
	Says   string `xml:"Message"`
	Region string // where the bucket is, of a request that was signed for another region
}

func (f *failure) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %d %s: %s", f.asked, f.status, strings.TrimSpace(f.Code+" "+http.StatusText(f.status)), f.Says), ": ")
}

// condition is a header under which alone a request is carried out; nil for always.
type condition []string

var ifAbsent = condition{"If-None-Match", "*"}

func ifMatch(etag string) condition { return condition{"If-Match", etag} }

// do makes one request about a key, "" for the bucket itself. An answer other than 200 to 299 is a *failure. What was never sent is refused
// for certain. Go's client sends a PUT or DELETE once more only if nothing of it was written.
func (s *store) do(ctx context.Context, method, key, query string, body []byte, when condition) (answer, error) {
	path := "/" + s.bucket
	if key != "" {
		path += "/" + key
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, method, s.base, bytes.NewReader(body))
	if err != nil {
		return answer{}, &client.Error{Code: history.CodeRefused, Err: err}
	}
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = path, escaped(path), query
	if when != nil {
		req.Header.Set(when[0], when[1])
	}
	s.sign(req, body, time.Now())
	resp, err := s.http.Do(req)
	if err != nil && !sent.Load() {
		return answer{}, &client.Error{Code: history.CodeRefused, Err: err}
	}
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		wrong := &failure{asked: method + " " + path, status: resp.StatusCode}
		_ = xml.Unmarshal(said, wrong) // the answer to a HEAD, or of what is no store, says no more
		return answer{server: resp.Header.Get("Server")}, wrong
	}
	return answer{resp.Header.Get("ETag"), resp.Header.Get("Server"), said}, err
}

// escaped is a path as signatures have it.
func escaped(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(path), "+", "%20"), "%2F", "/")
}

const stampFormat = "20060102T150405Z"

// sign adds a signature, version 4, of the method, the path, the query, the body and the time. The store refuses times that are 15 minutes
// from its own.
func (s *store) sign(req *http.Request, body []byte, at time.Time) {
	if s.user == "" {
		return
	}
	stamp, sum := at.UTC().Format(stampFormat), sha256.Sum256(body)
	req.Header.Set("X-Amz-Date", stamp)
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	const headers = "host;x-amz-content-sha256;x-amz-date"
	asked := sha256.Sum256([]byte(strings.Join([]string{
		req.Method, req.URL.EscapedPath(), req.URL.RawQuery,
		"host:" + req.URL.Host, "x-amz-content-sha256:" + hex.EncodeToString(sum[:]), "x-amz-date:" + stamp, "",
		headers, hex.EncodeToString(sum[:]),
	}, "\n")))
	scope := []string{stamp[:8], s.region, "s3", "aws4_request"}
	key := []byte("AWS4" + s.password)
	for _, part := range append(scope, strings.Join([]string{"AWS4-HMAC-SHA256", stamp, strings.Join(scope, "/"), hex.EncodeToString(asked[:])}, "\n")) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", s.user, strings.Join(scope, "/"), headers, key))
}
