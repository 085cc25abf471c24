package clusters_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// shelf is a server of whichever service keeps its value there.
type shelf struct {
	name  string
	value *string
	err   error
	wrote int
}

func (s *shelf) Place() string { return s.name }

func TestServersOfTwoServicesAreToldApart(t *testing.T) {
	mine, theirs, broken := new(string), new(string), errors.New("broken")
	for name, c := range map[string]struct {
		servers []*shelf
		is      error
		says    string
	}{
		"one server":   {[]*shelf{{name: "a", value: mine}}, nil, ""},
		"one service":  {[]*shelf{{name: "a", value: mine}, {name: "b", value: mine}}, nil, ""},
		"two services": {[]*shelf{{name: "a", value: mine}, {name: "b", value: mine}, {name: "c", value: theirs}}, clusters.ErrUsage, "written at a is not there at c"},
		"no answer":    {[]*shelf{{name: "a", value: mine}, {name: "b", value: mine, err: broken}}, broken, "b: broken"},
	} {
		err := clusters.OneService(t.Context(), c.servers, func(_ context.Context, s *shelf, value string) error {
			*s.value = value
			s.wrote++
			return s.err
		}, func(_ context.Context, s *shelf) (string, error) { return *s.value, s.err }, func(s *shelf, err error) error {
			return errors.Join(errors.New(s.name+": "+err.Error()), err)
		})
		if !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		for i, s := range c.servers {
			if i > 0 && s.wrote > 0 {
				t.Errorf("%s: it wrote through %s", name, s.name)
			}
		}
	}
}
