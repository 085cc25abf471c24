package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockcheck/clusters/client"
)

// A server that answers for an API server cannot have the token sent to another place.
func TestATokenIsShownToTheServerThatWasNamedOnly(t *testing.T) {
	var shown []string
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	named := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer named.Close()
	c, err := connect(client.Init{Endpoints: []string{strings.TrimPrefix(named.URL, "https://")}, Options: map[string]string{optionToken: "planted-5511"}}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Leases("default").Get(context.Background(), "k1", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), "no redirection is followed") {
		t.Errorf("the error is %v", err)
	}
	if len(shown) > 0 {
		t.Errorf("the other place was asked with %q", shown)
	}
}
