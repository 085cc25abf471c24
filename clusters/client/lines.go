package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"lockcheck/checker/history/flatjson"
)

// Lines are spelt and read by a Codec where they are plain, which nearly all are: with encoding/json it took a good part of
// the time in which the harness could have been recording. Everything else is encoding/json's: init and ready, which come once,
// and lines in another spelling.

// LineReader reads the lines of one stream, one after the other. The zero value is ready.
type LineReader struct{ plain flatjson.Reader }

var (
	commands = flatjson.NewCodec[Command]()
	reports  = flatjson.NewCodec[Report]()
)

// AppendCommand appends c as one line, its end included.
func AppendCommand(dst []byte, c *Command) ([]byte, error) {
	if c.Init != nil {
		return appendLine(dst, c)
	}
	return append(commands.Append(dst, c), '\n'), nil
}

// Command reads a line of the harness.
func (l *LineReader) Command(line []byte) (c Command, err error) {
	if !commands.Read(&l.plain, line, &c) {
		c = Command{}
		err = json.Unmarshal(line, &c)
	}
	return c, err
}

func appendReport(dst []byte, r *Report) ([]byte, error) {
	if r.Ready != nil {
		return appendLine(dst, r)
	}
	return append(reports.Append(dst, r), '\n'), nil
}

// Report reads a line of a client.
func (l *LineReader) Report(line []byte) (r Report, err error) {
	if !reports.Read(&l.plain, line, &r) {
		r = Report{}
		err = inPlainWords(json.Unmarshal(line, &r))
	}
	return r, err
}

// inPlainWords says what is wrong with a line to one who knows the protocol, and not Go.
func inPlainWords(err error) error {
	var kind *json.UnmarshalTypeError
	var spelling *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a report is a JSON object, and this is %s", withArticle(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%q has to be %s, and is %s", kind.Field, jsonKind(kind.Type), withArticle(kind.Value))
	case errors.As(err, &spelling) && spelling.Error() == "unexpected end of JSON input":
		return errors.New("its JSON is cut off: one report is one line")
	case errors.As(err, &spelling):
		return fmt.Errorf("its JSON is broken at byte %d", spelling.Offset)
	}
	return err
}

// withArticle is the name of a kind in JSON, of which encoding/json may add the number itself.
func withArticle(kind string) string {
	if kind == "array" || kind == "object" {
		return "an " + kind
	}
	return "a " + kind
}

// jsonKind is what JSON calls a type of a report's field.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `a string ("33")`
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

func appendLine(dst []byte, v any) ([]byte, error) {
	line, err := json.Marshal(v)
	return append(append(dst, line...), '\n'), err
}
