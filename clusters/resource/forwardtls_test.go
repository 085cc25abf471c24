package resource

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An https:// URL is spoken to by TLS, and its host has to show that it is that, wherever it is reached.
func TestWhoIsForwardedToShowsWhoItIs(t *testing.T) {
	theirs := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Host + " " + r.URL.Path))
	}))
	defer theirs.Close()
	path := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: theirs.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", path) // read once by this process: no other test of this package needs certificates
	for target, want := range map[string]string{"https://example.com/base": "200 example.com /base/read", "https://other.invalid": "503 tls: "} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = Forward(t.Context(), l, target, theirs.Listener.Addr().String()) }()
		reply, err := http.Post("http://"+l.Addr().String()+"/read", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 200)
		n, _ := reply.Body.Read(text)
		reply.Body.Close()
		if got := reply.Status[:4] + string(text[:n]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
