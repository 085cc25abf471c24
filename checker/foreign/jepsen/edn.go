package jepsen

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reader reads EDN one form at a time, so that a history is never in memory as a whole. What Clojure prints for things
// that are no data (#object[...], #error{...}) is read like any other tagged value.
type reader struct {
	scanner
	values int // read so far in this form
	bytes  int // of its names, numbers and strings
	depth  int
	words  map[string]Value // one copy of each short scalar: :invoke, :acquire, nil and small numbers repeat on every line
}

const (
	maxWords   = 4096
	maxWordLen = 24
)

func newReader(r io.Reader, file string) *reader {
	return &reader{scanner: newScanner(r, file), words: map[string]Value{}}
}

// begin starts to count for a form of its own.
func (r *reader) begin() { r.values, r.bytes, r.depth = 0, 0, 0 }

// grow counts one more byte of a form's text, of which this token has n so far.
func (r *reader) grow(n int) error {
	if r.bytes++; n > MaxToken || r.bytes > MaxForm {
		return r.mistake("a name, number or string of more than %d bytes, or more than %d of them in one operation", MaxToken, MaxForm)
	}
	return nil
}

// form reads the next form; false at the end of the file.
func (r *reader) form() (Value, bool, error) {
	r.begin()
	v, closer, ok, err := r.element()
	if err == nil && closer != 0 {
		return Value{}, false, r.mistake("%q closes nothing", closer)
	}
	return v, ok, err
}

// element reads a form, or the bracket that closes the collection around it. At the end of the file it returns neither.
func (r *reader) element() (v Value, closer byte, ok bool, err error) {
	for {
		c, more := r.next()
		if !more {
			return Value{}, 0, false, r.err
		}
		switch {
		case space(c):
			continue
		case c == ';':
			r.comment()
			continue
		case c == ')' || c == ']' || c == '}':
			return Value{}, c, false, nil
		}
		if r.values++; r.values > MaxValues {
			return Value{}, 0, false, r.mistake("one operation has more than %d values", MaxValues)
		}
		switch c {
		case '(':
			v, err = r.collection(Vector, ')')
		case '[':
			v, err = r.collection(Vector, ']')
		case '{':
			v, err = r.collection(Map, '}')
		case '"':
			v, err = r.string()
		case '\\':
			v, err = r.char()
		case '#':
			var dropped bool
			if v, dropped, err = r.dispatch(); dropped && err == nil {
				continue
			}
		default:
			r.back()
			v, err = r.scalar()
		}
		return v, 0, err == nil, err
	}
}

func (r *reader) comment() {
	for c, more := r.next(); more && c != '\n'; {
		c, more = r.next()
	}
}

// inner reads a form that has to be there.
func (r *reader) inner(what string) (Value, error) {
	line := r.line
	if r.depth++; r.depth > MaxDepth {
		return Value{}, r.mistake("nested deeper than %d", MaxDepth)
	}
	defer func() { r.depth-- }()
	v, closer, ok, err := r.element()
	switch {
	case err != nil:
		return Value{}, err
	case closer != 0:
		return Value{}, r.mistake("%q where %s has to follow", closer, what)
	case !ok:
		return Value{}, r.mistakeAt(line, "the file ends where %s has to follow", what)
	}
	return v, nil
}

func (r *reader) collection(kind Kind, end byte) (Value, error) {
	line := r.line
	if r.depth++; r.depth > MaxDepth {
		return Value{}, r.mistake("nested deeper than %d", MaxDepth)
	}
	defer func() { r.depth-- }()
	n := &node{kind: kind}
	for {
		v, closer, ok, err := r.element()
		switch {
		case err != nil:
			return Value{}, err
		case ok:
			n.items = append(n.items, v)
		case closer == 0:
			return Value{}, r.mistakeAt(line, "what is opened here is not closed by %q before the file ends", end)
		case closer != end:
			return Value{}, r.mistake("%q where %q has to close what was opened on line %d", closer, end, line)
		case kind == Map && len(n.items)%2 != 0:
			return Value{}, r.mistakeAt(line, "a map with a key that has no value")
		default:
			return Value{n}, r.unrepeated(n, line)
		}
	}
}

// dispatch reads what follows '#': a set, a symbolic number, a form to be dropped, or a tag and its value.
func (r *reader) dispatch() (v Value, dropped bool, err error) {
	c, more := r.next()
	switch {
	case !more:
		return Value{}, false, r.mistake("the file ends after %q", '#')
	case c == '{':
		v, err = r.collection(Set, '}')
		return v, false, err
	case c == '_':
		_, err = r.inner("the form to be dropped by #_")
		return Value{}, true, err
	case c == '#':
		name, err := r.token()
		if err != nil {
			return Value{}, false, err
		}
		switch name {
		case "NaN", "Inf", "-Inf":
			return Value{&node{kind: Float, text: "##" + name}}, false, nil
		}
		return Value{}, false, r.mistake("##%s is no number", shorten(name))
	case delimiter(c):
		return Value{}, false, r.mistake("#%c is no EDN", c)
	}
	r.back()
	tag, err := r.token()
	if err != nil {
		return Value{}, false, err
	}
	first, _ := utf8.DecodeRuneInString(tag)
	switch {
	case first == ':':
		v, err = r.namespaced(tag)
		return v, false, err
	case !unicode.IsLetter(first):
		return Value{}, false, r.mistake("#%s is no EDN", shorten(tag))
	}
	v, err = r.inner("what the tag #" + shorten(tag) + " stands before")
	return Value{&node{kind: Tagged, text: tag, items: []Value{v}}}, false, err
}

func (r *reader) string() (Value, error) {
	line := r.line
	var text []byte
	for {
		c, more := r.next()
		switch {
		case !more:
			return Value{}, r.mistakeAt(line, "a string that begins here has no end")
		case c == '"':
			if !utf8.Valid(text) {
				return Value{}, r.mistakeAt(line, "a string that is not UTF-8")
			}
			return Value{&node{kind: String, text: string(text)}}, nil
		case c == '\\':
			decoded, err := r.escape()
			if err != nil {
				return Value{}, err
			}
			text = utf8.AppendRune(text, decoded)
		default:
			text = append(text, c)
		}
		if err := r.grow(len(text)); err != nil {
			return Value{}, err
		}
	}
}

// escapes are the letters that stand for themselves or a control character after a backslash in a string.
var escapes = map[byte]rune{'t': '\t', 'r': '\r', 'n': '\n', 'b': '\b', 'f': '\f', '\\': '\\', '"': '"'}

func (r *reader) escape() (rune, error) {
	c, more := r.next()
	if !more {
		return 0, r.mistake("the file ends within a string")
	}
	if decoded, known := escapes[c]; known {
		return decoded, nil
	}
	if c != 'u' {
		return 0, r.mistake("unknown escape %q in a string", `\`+string(rune(c)))
	}
	var hex [4]byte
	for i := range hex {
		if hex[i], more = r.next(); !more {
			return 0, r.mistake("the file ends within a string")
		}
	}
	code, err := strconv.ParseUint(string(hex[:]), 16, 16)
	if err != nil {
		return 0, r.mistake("\\u has to be followed by four hexadecimal digits, not %q", hex[:])
	}
	return rune(code), nil // half of a surrogate pair becomes U+FFFD: it is only compared
}

// char reads what follows the backslash of a character: one letter, or the name of one.
func (r *reader) char() (Value, error) {
	c, more := r.next()
	if !more {
		return Value{}, r.mistake("the file ends where a character has to follow")
	}
	if delimiter(c) {
		if space(c) && c != ',' {
			return Value{}, r.mistake("a backslash without its character")
		}
		return Value{&node{kind: Char, text: string(rune(c))}}, nil
	}
	r.back()
	name, err := r.token()
	if err != nil {
		return Value{}, err
	}
	return Value{&node{kind: Char, text: name}}, nil
}

// token reads up to the next delimiter.
func (r *reader) token() (string, error) {
	line := r.line
	var text []byte
	for {
		c, more := r.next()
		if !more {
			break
		}
		if delimiter(c) {
			r.back()
			break
		}
		if c < ' ' || c == 0x7f {
			return "", r.mistake("a control character (0x%02x) outside of a string: is this a text file?", c)
		}
		text = append(text, c)
		if err := r.grow(len(text)); err != nil {
			return "", err
		}
	}
	switch {
	case r.err != nil:
		return "", r.err
	case len(text) == 0:
		return "", r.mistakeAt(line, "a name is missing")
	case !utf8.Valid(text):
		return "", r.mistakeAt(line, "a name that is not UTF-8")
	}
	return string(text), nil
}

// scalar reads a number, a keyword or a symbol.
func (r *reader) scalar() (Value, error) {
	line := r.line
	text, err := r.token()
	if err != nil {
		return Value{}, err
	}
	if v, known := r.words[text]; known {
		return v, nil
	}
	v, wrong := scalar(text)
	if wrong != "" {
		return Value{}, r.mistakeAt(line, "%s", wrong)
	}
	if len(text) <= maxWordLen && len(r.words) < maxWords {
		r.words[strings.Clone(text)] = v
	}
	return v, nil
}

func scalar(text string) (v Value, wrong string) {
	switch {
	case text == "nil":
		return Value{}, ""
	case text == "true" || text == "false":
		return Value{&node{kind: Bool, text: text}}, ""
	case text[0] == ':':
		if len(text) == 1 || text[1] == ':' {
			return Value{}, "a keyword without a name: " + shorten(text)
		}
		return Value{&node{kind: Keyword, text: text[1:]}}, ""
	case text[0] == '^' || text[0] == '`' || text[0] == '~' || text[0] == '@' || text[0] == '\'':
		return Value{}, shorten(text) + " is Clojure, and no data"
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return Value{&node{kind: Symbol, text: text}}, ""
	}
	number, kind, ok := number(digits)
	if !ok {
		return Value{}, shorten(text) + " is no number"
	}
	if text[0] == '-' && !zero(number) {
		number = "-" + number
	}
	return Value{&node{kind: kind, text: number}}, ""
}

// number reads an unsigned number into a text that is the same for equal numbers of one kind.
func number(text string) (canonical string, kind Kind, ok bool) {
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		n, err := strconv.ParseUint(text[2:], 16, 64)
		return strconv.FormatUint(n, 10), Int, err == nil
	}
	if whole := strings.TrimSuffix(text, "N"); allDigits(whole) {
		return bare(whole), Int, true
	}
	if over, under, ratio := strings.Cut(text, "/"); ratio {
		return bare(over) + "/" + bare(under), Float, allDigits(over) && allDigits(under) && bare(under) != "0"
	}
	if exact := strings.TrimSuffix(text, "M"); exact != text {
		_, err := strconv.ParseFloat(exact, 64)
		return text, Float, plainFloat(exact) && (err == nil || strings.Contains(err.Error(), "range"))
	}
	f, err := strconv.ParseFloat(text, 64)
	return float(f), Float, plainFloat(text) && err == nil
}

// float writes a float so that it is no whole number's text: 1.0 is another value than 1.
func float(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if allDigits(text) {
		text += ".0"
	}
	return text
}

// zero reports whether an unsigned number is one: its sign means nothing then.
func zero(number string) bool { return strings.Trim(number, "0.M") == "" }

// plainFloat keeps out what Go reads as a number and EDN does not: hexadecimal digits, underscores, words.
func plainFloat(text string) bool { return strings.Trim(text, "0123456789.eE+-") == "" }

func allDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func bare(digits string) string {
	if short := strings.TrimLeft(digits, "0"); short != "" {
		return short
	}
	return "0"
}

// shorten makes foreign text fit for a sentence and a terminal.
func shorten(text string) string {
	const long = 60
	if len(text) <= long {
		return printable([]byte(text))
	}
	return printable([]byte(strings.ToValidUTF8(text[:long], ""))) + "…"
}
