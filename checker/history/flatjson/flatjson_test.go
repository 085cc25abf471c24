package flatjson

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

type row struct {
	Int   int64    `json:"int"`
	Text  string   `json:"text" flat:"text"`
	Word  string   `json:"word"`
	Words []string `json:"words,omitempty"`
	Bool  bool     `json:"bool"`
	Maybe *bool    `json:"maybe"`
}

var rows = NewCodec[row]()

func (r *row) append(dst []byte) []byte { return rows.Append(dst, r) }

func (r *row) read(from *Reader, line []byte) bool { return rows.Read(from, line, r) }

// Any string can be written: it is JSON that says the same, on one line.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "plain", `"\`, "a\nb\tc\x00\x1f\x7f", "é\u2028\U0001F512", "\xff\xc3", "<&>"} {
		f.Add(s, "")
		f.Add("plain", s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want := row{Text: a, Word: b, Words: []string{a, b}}
		line := want.append(nil)
		for _, c := range line {
			if c < ' ' {
				t.Fatalf("%q is not one line", line)
			}
		}
		var got row
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is read as %+v, want %+v", line, got, want)
		}
	})
}

// What is written plainly is taken, and encoding/json reads all that is taken alike.
func TestPlainRowsAreTaken(t *testing.T) {
	for _, want := range []row{{}, {Int: 1<<63 - 1, Text: "t", Word: "w", Words: []string{"a", "b"}, Bool: true, Maybe: new(bool)}} {
		var reader Reader
		var got row
		if line := want.append(nil); !got.read(&reader, line) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v", line, got, want)
		}
	}
}

// encoding/json knows options that are none here: to ignore one would write other lines than it does.
func TestOptionsThatAreNotKnownAreRefused(t *testing.T) {
	for name, makes := range map[string]func(){
		"omitzero": func() {
			NewCodec[struct {
				N int64 `json:"n,omitzero"`
			}]()
		},
		"string beside omitempty": func() {
			NewCodec[struct {
				N int64 `json:"n,omitempty,string"`
			}]()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it was taken", name)
				}
			}()
			makes()
		}()
	}
}

func FuzzReaderAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"int":0}`, `{}`, `{"int":01}`, `{"int":-1}`, `{"int":9223372036854775808}`, `{"words":[]}`, `{"words":["a","b"],"words":["c"]}`, `{"words":["a",]}`,
		`{"words":["a"`, `{"words":[[]]}`, `{"maybe":true,"maybe":false}`, `{"bool":truefalse}`, `{"word":"a"}x`, `{"word":"\u0041"}`, `{"int" :1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var reader Reader
		var fast, slow row
		if !fast.read(&reader, line) {
			return
		}
		if err := json.Unmarshal(line, &slow); err != nil || !reflect.DeepEqual(fast, slow) {
			t.Errorf("%q: fast %+v, encoding/json %+v, %v", line, fast, slow, err)
		}
	})
}
