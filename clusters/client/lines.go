package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"lockcheck/checker/history/flatjson"
)

// Lines are spelt and read by hand where they are plain, which nearly all are: with encoding/json it took a good part of
// the time in which the harness could have been recording. Everything else is encoding/json's: init and ready, which come once,
// and lines in another spelling.

// LineReader reads the lines of one stream, one after the other. The zero value is ready.
type LineReader struct{ plain flatjson.Reader }

// AppendCommand appends c as one line, its end included.
func AppendCommand(dst []byte, c *Command) ([]byte, error) {
	if c.Init != nil {
		return appendLine(dst, c)
	}
	o := flatjson.Begin(dst)
	o.Text("cmd", string(c.Cmd))
	o.Number("n", c.N)
	o.Number("op", c.Op)
	o.Word("hold", c.Hold)
	o.Word("key", c.Key)
	o.Flag("try", c.Try)
	o.Word("value", c.Value)
	o.Word("base", c.Base)
	o.Word("idempotency_key", c.IdempotencyKey)
	o.Number("work_ms", c.WorkMS)
	o.Word("guard", string(c.Guard))
	return append(o.End(), '\n'), nil
}

// Command reads a line of the harness.
func (l *LineReader) Command(line []byte) (c Command, err error) {
	r := &l.plain
	plain := r.Object(line, func(field []byte) bool {
		switch string(field) {
		case "cmd":
			return r.Word((*string)(&c.Cmd))
		case "n":
			return r.Int(&c.N)
		case "op":
			return r.Int(&c.Op)
		case "hold":
			return r.Word(&c.Hold)
		case "key":
			return r.Word(&c.Key)
		case "try":
			return r.Bool(&c.Try)
		case "value":
			return r.Word(&c.Value)
		case "base":
			return r.Word(&c.Base)
		case "idempotency_key":
			return r.Word(&c.IdempotencyKey)
		case "work_ms":
			return r.Int(&c.WorkMS)
		case "guard":
			return r.Word((*string)(&c.Guard))
		}
		return false
	})
	if !plain {
		c = Command{}
		err = json.Unmarshal(line, &c)
	}
	return c, err
}

func appendReport(dst []byte, r *Report) ([]byte, error) {
	if r.Ready != nil {
		return appendLine(dst, r)
	}
	o := flatjson.Begin(dst)
	o.Text("msg", string(r.Msg))
	o.Number("n", r.N)
	o.Words("holds", r.Holds)
	o.Number("op", r.Op)
	o.Number("seen", r.Seen)
	o.Word("session", r.Session)
	o.Word("token", r.Token)
	o.Number("ttl_ms", r.TTLMS)
	o.Number("valid_ms", r.ValidMS)
	o.Word("value", r.Value)
	o.Flag("held", r.Held)
	if r.Owned != nil {
		o.Bool("owned", *r.Owned)
	}
	o.Flag("removed", r.Removed)
	o.Flag("gave_back", r.GaveBack)
	o.Number("attempts", r.Attempts)
	o.Word("stage", string(r.Stage))
	o.Word("code", r.Code)
	o.Word("error", r.Error)
	return append(o.End(), '\n'), nil
}

// Report reads a line of a client.
func (l *LineReader) Report(line []byte) (to Report, err error) {
	r := &l.plain
	plain := r.Object(line, func(field []byte) bool {
		switch string(field) {
		case "msg":
			return r.Word((*string)(&to.Msg))
		case "n":
			return r.Int(&to.N)
		case "holds":
			return r.Words(&to.Holds)
		case "op":
			return r.Int(&to.Op)
		case "seen":
			return r.Int(&to.Seen)
		case "session":
			return r.Word(&to.Session)
		case "token":
			return r.Word(&to.Token)
		case "ttl_ms":
			return r.Int(&to.TTLMS)
		case "valid_ms":
			return r.Int(&to.ValidMS)
		case "value":
			return r.Word(&to.Value)
		case "held":
			return r.Bool(&to.Held)
		case "owned":
			return r.MaybeBool(&to.Owned)
		case "removed":
			return r.Bool(&to.Removed)
		case "gave_back":
			return r.Bool(&to.GaveBack)
		case "attempts":
			return r.Int(&to.Attempts)
		case "stage":
			return r.Word((*string)(&to.Stage))
		case "code":
			return r.Word(&to.Code)
		case "error":
			return r.Text(&to.Error)
		}
		return false
	})
	if !plain {
		to = Report{}
		err = inPlainWords(json.Unmarshal(line, &to))
	}
	return to, err
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
