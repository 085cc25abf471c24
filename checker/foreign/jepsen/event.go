package jepsen

import (
	"fmt"
	"strconv"

	"lockcheck/checker/history"
)

// Event is one line of a history: a client's invocation or completion, or what the nemesis did.
type Event struct {
	Line    int
	Type    history.Type
	Process string // "0", or "nemesis"
	Client  bool   // a client's, not the nemesis's
	F       string // without its colon
	Value   Value
	Error   Value // what Jepsen's client added to a failure; only shown, never judged
	Index   int64 // as numbered in the file; -1 if it was not
}

var types = map[string]history.Type{"invoke": history.Invoke, "ok": history.OK, "fail": history.Fail, "info": history.Info}

const knownTypes = ":invoke, :ok, :fail, :info"

// eventOf reads an operation's map.
func eventOf(v Value, line int) (Event, error) {
	e := Event{Line: line, Index: -1}
	m := v.Untagged()
	if m.Kind() != Map {
		return e, Mistakef(line, "an operation has to be a map such as {:process 0, :type :invoke, :f :acquire, :value nil}, not %s", shorten(v.String()))
	}
	seen := map[string]bool{}
	for i := 0; i < len(m.node.items); i += 2 {
		key, value := m.node.items[i], m.node.items[i+1]
		if key.Kind() != Keyword {
			continue
		}
		name := key.Text()
		field, known := fields[name]
		if !known {
			continue
		}
		seen[name] = true
		if wrong := field(&e, value); wrong != "" {
			return e, Mistakef(line, "%s", wrong)
		}
	}
	for _, name := range []string{"process", "type", "f"} {
		if !seen[name] {
			return e, Mistakef(line, "an operation without :%s", name)
		}
	}
	return e, nil
}

// fields are the keys of an operation that mean something; each says what is wrong with its value.
var fields = map[string]func(*Event, Value) string{
	"type": func(e *Event, v Value) string {
		t, known := types[v.Text()]
		if v.Kind() != Keyword || !known {
			return fmt.Sprintf("unknown :type %s; known are %s", shorten(v.String()), knownTypes)
		}
		e.Type = t
		return ""
	},
	"process": func(e *Event, v Value) string {
		switch v.Kind() {
		case Int, String, Symbol, Keyword:
			// Jepsen's clients have numbers; other tools that write its format give them names.
			e.Process, e.Client = v.Text(), v.Text() != "nemesis"
		default:
			return fmt.Sprintf("a :process has to be a number or a name, not %s", shorten(v.String()))
		}
		return ""
	},
	"f": func(e *Event, v Value) string {
		switch v.Kind() {
		case Keyword, String, Symbol:
			e.F = v.Text()
		case Nil: // the nemesis may have nothing to say; a client without a function is unknown to every model
		default:
			return fmt.Sprintf("an :f has to be a name, not %s", shorten(v.String()))
		}
		return ""
	},
	"value": func(e *Event, v Value) string { e.Value = v; return "" },
	"error": func(e *Event, v Value) string { e.Error = v; return "" },
	"index": func(e *Event, v Value) string {
		if v.Kind() == Nil {
			return ""
		}
		var err error
		if e.Index, err = strconv.ParseInt(v.Text(), 10, 64); v.Kind() != Int || err != nil {
			return fmt.Sprintf("an :index has to be a whole number, not %s", shorten(v.String()))
		}
		return ""
	},
}
