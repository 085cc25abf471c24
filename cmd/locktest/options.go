package locktest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"lockcheck/cmd/internal/harness"
)

// seedVariable is the environment variable that chooses the seed where the plan does not.
const seedVariable = "LOCKCHECK_SEED"

// options are the plan with everything that was left out.
func (p Plan) options(test string) (harness.Options, error) {
	o := harness.Default()
	for _, flag := range harness.Flags {
		if field, ok := fieldOf(flag.Name); ok {
			if value := reflect.ValueOf(p).FieldByIndex(field.Index); !value.IsZero() {
				reflect.ValueOf(flag.At(&o)).Elem().Set(value)
			}
		}
	}
	var err error
	if o.Seed, err = seed(p.Seed); err != nil {
		return o, err
	}
	if o.Out, err = filepath.Abs(o.Out); err != nil {
		return o, err
	}
	if _, own := registered[p.Client]; own {
		o.Command = again(test, o.Seed)
	}
	return o, nil
}

func seed(asked int64) (int64, error) {
	word, given := os.LookupEnv(seedVariable)
	switch {
	case asked != 0:
		return asked, nil
	case !given:
		return rand.Int64N(1 << 31), nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%q is no seed: a whole number is", seedVariable, word)
	}
	return n, nil
}

// again is the command that makes the same run once more of a lock that lockcheck's own program does not know.
func again(test string, seed int64) []string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	where := "."
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(info.Path, ".test") {
		where = strings.TrimSuffix(info.Path, ".test")
	}
	return []string{"env", fmt.Sprintf("%s=%d", seedVariable, seed), "go", "test", "-count=1", "-run=" + strings.Join(parts, "/"), where}
}
