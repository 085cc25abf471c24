package jepsen

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// Values are compared by their strings, so equal ones have to read as the same string and others must not.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"nil":                          "nil",
		"true":                         "true",
		"  ,,; a comment\n7":           "7",
		"007":                          "7",
		"+7":                           "7",
		"-7N":                          "-7",
		"-0":                           "0",
		"123456789012345678901234567":  "123456789012345678901234567",
		"0xff":                         "255",
		"1/3":                          "1/3",
		"1.50":                         "1.5",
		"-2.5e3":                       "-2500.0",
		"1.0":                          "1.0",
		"1":                            "1",
		"1e0":                          "1.0",
		"1e21":                         "1e+21",
		"-0.0":                         "0.0",
		"1M":                           "1M",
		"1.10M":                        "1.10M",
		"##-Inf":                       "##-Inf",
		`"a\tb\"\u00e9"`:               `"a\tb\"é"`,
		`\newline`:                     `\newline`,
		`\a`:                           `\a`,
		`[\( \)]`:                      `[\( \)]`,
		":a/b":                         ":a/b",
		"+":                            "+",
		"foo.bar$baz__12":              "foo.bar$baz__12",
		"[1 2, 3]":                     "[1 2 3]",
		"(1 2)":                        "[1 2]",
		"[1 [2 [3]]]":                  "[1 [2 [3]]]",
		"#{3 1 2}":                     "#{1 2 3}",
		"{:b 1 :a {2 3}}":              "{:a {2 3}, :b 1}",
		"[1 #_2 #_ [3 4] 5]":           "[1 5]",
		"[#_ #_ 1 2 3]":                "[3]",
		"{:a #_1 2}":                   "{:a 2}",
		`#inst "2020-01-01"`:           `#inst "2020-01-01"`,
		"#jepsen.history.Op{:f :read}": "#jepsen.history.Op {:f :read}",
		"#:a{:b 1}":                    "{:a/b 1}",
		"#:a {:b 1, c 2}":              "{:a/b 1, a/c 2}",
		"#:a.b{:x {:y 1}}":             "{:a.b/x {:y 1}}",
		"#:a{:_/x 1, :b/y 2, _/z 3}":   "{:b/y 2, :x 1, z 3}",
		`#:a{"b" 1, 2 3, nil 4, [:c] 5, \d 6, / 7}`: `{"b" 1, 2 3, [:c] 5, \d 6, a// 7, nil 4}`,
		"#:a{}":                             "{}",
		"#x #:a{:b 1}":                      "#x {:a/b 1}",
		"#{1 1.0 1M \"1\" :1 \\1}":          `#{"1" 1 1.0 1M :1 \1}`,
		`#object[java.net.Socket 0x1f "x"]`: `#object [java.net.Socket 31 "x"]`,
	} {
		v, err := ParseValue(text)
		if err != nil || v.String() != want {
			t.Errorf("%s: got %s, %v; want %s", text, v, err, want)
		}
		if again, err := ParseValue(v.String()); err != nil || again.String() != v.String() {
			t.Errorf("%s: reads back as %s, %v", v, again, err)
		}
	}
}

func TestWhatIsNoEDN(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "value:1: no value",
		"1 2":                          "value:1: more than one value",
		"[1 2":                         "value:1: what is opened here is not closed by ']'",
		"\n[1\n{:a\n":                  "value:3: what is opened here is not closed by '}'",
		"[1)":                          "value:1: ')' where ']' has to close what was opened on line 1",
		"]":                            "value:1: ']' closes nothing",
		"{:a}":                         "value:1: a map with a key that has no value",
		"\n\"abc":                      "value:2: a string that begins here has no end",
		`"\x"`:                         `value:1: unknown escape "\\x"`,
		`"\u12xy"`:                     `value:1: \u has to be followed by four`,
		":":                            "value:1: a keyword without a name",
		"::a":                          "value:1: a keyword without a name: ::a",
		"12ab":                         "value:1: 12ab is no number",
		"1/0":                          "value:1: 1/0 is no number",
		"{:a 1\n:a 2}":                 "value:1: a map with the key :a twice",
		"{[1] 1 (1) 2}":                "value:1: a map with the key [1] twice",
		"#{1 01}":                      "value:1: a set with 1 twice",
		"#:a{:b 1 :a/b 2}":             "value:1: a map with the key :a/b twice",
		"#:a{:b 1 :a/c 2 :_/b 3 :b 4}": "value:1: a map with the key :b twice",
		"#::{:b 1}":                    "value:1: #:: is Clojure, and no data",
		"#::a{:b 1}":                   "value:1: #::a is Clojure, and no data",
		"#:{:b 1}":                     "value:1: #: is Clojure, and no data",
		"#:a/b{:c 1}":                  "value:1: #:a/b is no EDN",
		"\n#:a[1]":                     "value:2: #:a has to stand before a map, not [1]",
		"#:a":                          "value:1: the file ends where the map of #:a has to follow",
		"1_000":                        "value:1: 1_000 is no number",
		"0x1p4":                        "value:1: 0x1p4 is no number",
		"##Foo":                        "value:1: ##Foo is no number",
		"#":                            "value:1: the file ends after '#'",
		"#foo":                         "value:1: the file ends where what the tag #foo stands before has to follow",
		"[#foo]":                       "value:1: ']' where what the tag #foo stands before has to follow",
		"#_":                           "value:1: the file ends where the form to be dropped",
		`#"regex"`:                     `value:1: #" is no EDN`,
		"#'var 1":                      "value:1: #'var is no EDN",
		"^{:a 1} []":                   "value:1: ^ is Clojure",
		"@atom":                        "value:1: @atom is Clojure",
		"a\x00b":                       "value:1: a control character (0x00)",
		"\"\xff\"":                     "value:1: a string that is not UTF-8",
		"a\xffb":                       "value:1: a name that is not UTF-8",
		strings.Repeat("[", 65) + strings.Repeat("]", 65):                 "value:1: nested deeper than 64",
		strings.Repeat("#a ", 65) + "1":                                   "value:1: nested deeper than 64",
		strings.Repeat("#_", 65) + "1":                                    "value:1: nested deeper than 64",
		"[" + strings.Repeat("1 ", MaxValues) + "]":                       "value:1: one operation has more than 65536 values",
		strings.Repeat("a", MaxToken+1):                                   "value:1: a name, number or string of more than 65536 bytes",
		"[" + strings.Repeat(strings.Repeat("a", MaxToken)+" ", 17) + "]": "or more than 1048576 of them in one operation",
	} {
		_, err := ParseValue(text)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, history.ErrMalformed) {
			t.Errorf("%.40q: got %v; want %s", text, err, want)
		}
	}
}

func TestDeepestNestingIsRead(t *testing.T) {
	if _, err := ParseValue(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)); err != nil {
		t.Error(err)
	}
}

// Keys are told apart however many there are.
func TestKeysThatRepeat(t *testing.T) {
	for _, n := range []int{2, maxPairwise, maxPairwise + 1, 500} {
		entries, elements := "", ""
		for i := range n {
			entries += fmt.Sprintf(":k%d {} ", i)
			elements += fmt.Sprintf("[%d] ", i)
		}
		for text, wrong := range map[string]bool{
			"{" + entries + "}": false, "{" + entries + ":k0 1}": true, "#{" + elements + "}": false, "#{" + elements + "[1]}": true,
		} {
			if _, err := ParseValue(text); (err != nil) != wrong {
				t.Errorf("%d: %.40s: %v", n, text, err)
			}
		}
	}
}
