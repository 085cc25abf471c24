package resource

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// A resource whose answers no client would understand is found before any client asks it; what one rejects or fails at is for the run.
func TestAFirstReadShowsWhetherAResourceAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		says   string // "" for nothing
	}{
		"an answer":              {200, `{"outcome":"applied","value":""}`, ""},
		"a rejection":            {409, `{"outcome":"rejected","error":"no token"}`, ""},
		"it is not ready":        {503, "later", ""},
		"a page":                 {200, "<html>welcome</html>", `(200 OK): "<html>welcome</html>"`},
		"no outcome":             {200, `{"value":""}`, `(200 OK): "{\"value\":\"\"}"`},
		"rejected with 200":      {200, `{"outcome":"rejected"}`, "(200 OK)"},
		"there is no such thing": {404, `{}`, "(404 Not Found)"},
		"what a terminal obeys":  {200, "\x1b[2J", `"\x1b[2J"`},
	} {
		t.Run(name, func(t *testing.T) {
			var asked Ask
			tested := testedBy(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.Path != "/read" || json.NewDecoder(r.Body).Decode(&asked) != nil {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			})
			err := tested.Tryout(t.Context(), "p/")
			if (err == nil) != (test.says == "") || err != nil && (!errors.Is(err, ErrNotSpoken) || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v", err)
			}
			if asked.Key != "p/"+tryoutKey || asked.Token != "" || asked.Request == "" || asked.Hold == "" {
				t.Errorf("asked: %+v", asked)
			}
		})
	}
}

// The log's line of that read is none of the run's, and the numbers of the others have no gap.
func TestTheLineOfTheFirstReadIsLeftOut(t *testing.T) {
	tested := testedBy(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fmt.Fprint(w, `{"outcome":"applied"}`)
			return
		}
		fmt.Fprint(w, strings.Replace(aLine, `"k"`, `"`+tryoutKey+`"`, 1)+aLine)
	})
	if err := tested.Tryout(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var got []history.Request
	err := tested.Log(t.Context(), "", func(q history.Request) error { got = append(got, q); return nil })
	if err != nil || len(got) != 1 || got[0].Key != "k" || got[0].Seq != 1 {
		t.Errorf("%v, %+v", err, got)
	}
}
