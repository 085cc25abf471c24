package resource

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// FuzzRequests sends the resource two bodies of anything, the second twice: each is answered or refused, and what is in the
// log afterwards is a log.
func FuzzRequests(f *testing.F) {
	for _, body := range []string{
		`{"request":"1","hold":"h1","token":"33","key":"k1","value":"v1"}`, `{"request":"2","hold":"h1","token":"32","key":"k1"}`,
		``, `{}`, `null`, `[]`, `{"request":"01"}`, `{"request":"1","key":"k1","token":"x"}`, `{"request":"1","key":""}`, `{"unknown":1}`,
		`{"request":"1","key":"k1"} {"request":"2","key":"k1"}`, "{\"request\":\"1\",\"key\":\"\xff\"}", `{"request":"` + strings.Repeat("9", 90) + `","key":"k"}`,
	} {
		f.Add(body, `{"request":"7","hold":"h2","token":"34","key":"k1","value":"v2","base":"v1"}`, byte(1))
	}
	f.Fuzz(func(t *testing.T, first, second string, kind byte) {
		mode := Mode{Kind: history.Resource(history.OwnResourceNames()[int(kind)%len(history.OwnResourceNames())])}
		name := filepath.Join(t.TempDir(), "resource.jsonl")
		log, err := OpenLog(name)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		now := int64(0)
		store, err := NewStore(mode, log, func() int64 { now++; return now })
		if err != nil {
			t.Fatal(err)
		}
		h := &handler{store: store, failed: make(chan struct{})}
		for _, body := range []string{first, second, second} {
			for path := range paths {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
				switch w.Code {
				case http.StatusOK, http.StatusConflict, http.StatusBadRequest:
				default:
					t.Errorf("%s %q: status %d %s", path, body, w.Code, w.Body)
				}
			}
		}
		written, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer written.Close()
		for _, err := range history.Requests(written, name) {
			if err != nil {
				t.Errorf("after %q and %q the log cannot be read: %v", first, second, err)
			}
		}
	})
}
