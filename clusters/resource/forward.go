package resource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// MaxForwarded bounds the connections to a resource that others run. Requests wait for one.
const MaxForwarded = 128

// forwardTimeout bounds one connecting.
const forwardTimeout = 10 * time.Second

// PlaceOf is where a URL leads: host:port. The URL may hold no secret, because it stands in the plan and the report, and /read and
// /write are added to it. The error does not show it.
func PlaceOf(text string) (string, error) {
	to, err := url.Parse(text)
	switch {
	case err != nil || to.Hostname() == "":
		return "", errors.New("this is no URL that can be read; it is written as http://resource.example:8080")
	case to.User != nil || to.RawQuery != "" || to.Fragment != "":
		return "", errors.New("a URL with a user, a password, a query or a fragment is not taken, because it would stand in the plan and the report: " +
			"name the place alone, as http://resource.example:8080")
	case to.Port() != "":
		return to.Host, nil
	}
	return net.JoinHostPort(to.Hostname(), to.Scheme), nil
}

// Forward serves what comes in at a listener with a resource that others run, whose URL's place is reached at the address through.
// Nothing is repeated: a request whose answer is lost stays one of unknown outcome. It ends with ctx.
func Forward(ctx context.Context, l net.Listener, target, through string) error {
	to, err := url.Parse(target)
	if err != nil {
		return fmt.Errorf("the URL of the resource: %w", err)
	}
	to.Path = strings.TrimSuffix(to.Path, "/")
	dialer := net.Dialer{Timeout: forwardTimeout}
	server := &http.Server{Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to) // and its host
			r.Out.GetBody = nil
		},
		Transport: &http.Transport{
			Proxy: nil, MaxConnsPerHost: MaxForwarded, MaxIdleConnsPerHost: MaxForwarded, DisableCompression: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, through)
			},
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { // what became of it is not known
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
		FlushInterval: -1,
	}}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
