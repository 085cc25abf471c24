package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// unknownField is the name of the field that a strict decoder did not know; "" of any other error. The library has no type for it.
func unknownField(err error) string {
	quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	name, bad := strconv.Unquote(quoted)
	if !ok || bad != nil {
		return ""
	}
	return name
}

// notAsExpected says what is wrong with JSON of a recording, in words of recordings. what is said of text that is none.
func notAsExpected(what string, err error) error {
	var mistyped *json.UnmarshalTypeError
	switch name := unknownField(err); {
	case name != "":
		return mistakef("unknown field %q: another version of lockcheck wrote it (plan.json names it), or it was changed since", name)
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return mistakef("%s: the field %q cannot be a %s", what, mistyped.Field, mistyped.Value)
	}
	return mistakef("%s: %v", what, err)
}

// lineOfField is the line in which a field of this name first stands; 0 if there is none.
func lineOfField(data []byte, name string) int64 {
	key, err := json.Marshal(name)
	if err != nil {
		return 0
	}
	for from := 0; ; {
		i := bytes.Index(data[from:], key)
		if i < 0 {
			return 0
		}
		at := from + i
		if rest := bytes.TrimLeft(data[at+len(key):], " \t\r\n"); bytes.HasPrefix(rest, []byte(":")) {
			return lineAt(data, int64(at))
		}
		from = at + len(key)
	}
}
