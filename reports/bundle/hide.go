package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// What a Hider can take out of a text.
const (
	Secrets     = "passwords, tokens and keys"
	Addresses   = "addresses"
	HostNames   = "host names"
	Directories = "directories"
	Users       = "user names"
	Chosen      = "words of --hide"
)

// kinds are in the order in which they are listed.
var kinds = []string{Secrets, Addresses, HostNames, Directories, Users, Chosen}

// hiddenSecret stands where a secret was.
const hiddenSecret = "[hidden]"

// A Hider replaces what a stranger should not read. The same word becomes the same other word in every file.
type Hider struct {
	words     []*word
	addresses map[netip.Addr]netip.Addr
	times     map[string]int
}

type word struct {
	kind, was, to string
	pattern       *regexp.Regexp // the word between its neighbours
	found         bool
}

// NewHider knows no words yet: it hides secrets and addresses.
func NewHider() *Hider {
	return &Hider{addresses: map[netip.Addr]netip.Addr{}, times: map[string]int{}}
}

// Word has a word replaced in any case: wherever it stands alone, or anywhere if the user chose it. Longer words go first, whatever the order
// of the calls.
func (h *Hider) Word(kind, was, to string) {
	if was == "" {
		return
	}
	forms := []string{regexp.QuoteMeta(was)}
	if inJSON, err := json.Marshal(was); err == nil && string(inJSON[1:len(inJSON)-1]) != was {
		forms = append(forms, regexp.QuoteMeta(string(inJSON[1:len(inJSON)-1])))
	}
	pattern := `(?:` + strings.Join(forms, "|") + `)`
	if kind == Chosen {
		pattern = `(?i)()` + pattern + `()`
	} else {
		pattern = `(?i)(^|[^\pL\pN_-]|\\[nrtbf])` + pattern + `($|[^\pL\pN_-])`
	}
	h.words = append(h.words, &word{kind: kind, was: was, to: to, pattern: regexp.MustCompile(pattern)})
	slices.SortStableFunc(h.words, func(a, b *word) int { return cmp.Compare(len(b.was), len(a.was)) })
}

// Host has a host name replaced by one of those that no host has (RFC 2606).
func (h *Hider) Host(name string) {
	if _, err := netip.ParseAddr(name); err == nil {
		return // an address is hidden as one
	}
	n := 1
	for _, w := range h.words {
		if w.kind == HostNames {
			n++
		}
	}
	h.Word(HostNames, name, fmt.Sprintf("host-%d.example", n))
}

// Hidden is what was replaced so far: how often, by kind, in the order of listing.
func (h *Hider) Hidden() (lines []string) {
	for _, kind := range kinds {
		if n := h.times[kind]; n > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d", kind, n))
		}
	}
	return lines
}

// Pairs are the words and addresses that were found, each with what stands in its place: for the user's own eyes.
func (h *Hider) Pairs() (lines []string) {
	for _, w := range h.words {
		if w.found {
			lines = append(lines, w.was+" → "+w.to)
		}
	}
	for _, was := range slices.SortedFunc(maps.Keys(h.addresses), netip.Addr.Compare) {
		lines = append(lines, was.String()+" → "+h.addresses[was].String())
	}
	return lines
}

var (
	// A user and a password before the host of a URL, and before that of MySQL's.
	inURL = regexp.MustCompile(`(\w[\w+.-]*://)[^\s"'\\]*@|[^\s"':/]+:[^\s"']*(@(?:tcp|unix)\()`)
	// A name with "password" or its kin, what parts it from its value, and the value: all up to the end of the string or line.
	named = regexp.MustCompile(`(?i)((?:[\w.-]*(?:passw(?:or)?d|passphrase|secret|(?:access|api|private)[_-]?key|credential|authorization|cookie|` +
		`(?:access|auth|bearer|refresh|http|vault|consul)[_-]?token)[\w.-]*|\b(?:requirepass|masterauth|pwd|redis_pass)\b|[?&](?:token|sig|pass)\b)` +
		`\\*["']?(?:\s*[:=,]\s*|\s+[\[({]*\\*["']|\s*$)[\[({]*\\*["']?)((?:[^"\\\n]|\\.)+)`)
	flag = regexp.MustCompile(`(?i)(--?[\w-]*(?:passw(?:or)?d|secret|api-key|token)[\w-]*\s+\\*["']?)((?:[^"\\\s-]|\\.)(?:[^"\\\n]|\\.)*)`)
	// Tokens that show by themselves what they are: of JSON Web Tokens, AWS, GitHub, Slack.
	shaped = regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bxox[a-z]-[\w-]{10,}`)

	keyBegins = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	keyEnds   = regexp.MustCompile(`-----END [A-Z ]*PRIVATE KEY-----`)
	keyInLine = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----`)

	// What may be an address; netip decides.
	ipv4 = regexp.MustCompile(`(?:\\[nrtbf]|\b)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	ipv6 = regexp.MustCompile(`[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*`)
)

// Name is a name of a file or folder without what is to be hidden.
func (h *Hider) Name(name string) string {
	inKey := false
	return string(h.Line([]byte(name), &inKey))
}

// Line returns a line without what is to be hidden. inKey says whether the line before was inside a private key, and then whether this one is.
func (h *Hider) Line(line []byte, inKey *bool) []byte {
	if *inKey {
		end := keyEnds.FindIndex(line)
		if end == nil {
			return []byte("\n")
		}
		*inKey, line = false, line[end[1]:]
	}
	line = h.all(Secrets, line, keyInLine, func([][]byte) string { return hiddenSecret })
	if begin := keyBegins.FindIndex(line); begin != nil {
		*inKey = true
		h.times[Secrets]++
		line = append(slices.Clone(line[:begin[0]]), hiddenSecret+"\n"...)
	}
	line = h.all(Secrets, line, inURL, func(m [][]byte) string { return string(m[1]) + hiddenSecret + cmp.Or(string(m[2]), "@") })
	for _, pattern := range []*regexp.Regexp{named, flag} {
		line = h.all(Secrets, line, pattern, func(m [][]byte) string { return string(m[1]) + hiddenSecret })
	}
	line = h.all(Secrets, line, shaped, func([][]byte) string { return hiddenSecret })
	for _, w := range h.words {
		for range 2 { // two neighbours share what is between them
			line = h.all(w.kind, line, w.pattern, func(m [][]byte) string {
				w.found = true
				return string(m[1]) + w.to + string(m[2])
			})
		}
	}
	for _, pattern := range []*regexp.Regexp{ipv4, ipv6} {
		line = h.all(Addresses, line, pattern, func(m [][]byte) string { return h.address(string(m[0])) })
	}
	return line
}

// all replaces what a pattern finds, and counts what that changed.
func (h *Hider) all(kind string, line []byte, pattern *regexp.Regexp, to func(groups [][]byte) string) []byte {
	if !pattern.Match(line) {
		return line
	}
	return pattern.ReplaceAllFunc(line, func(found []byte) []byte {
		now := []byte(to(pattern.FindSubmatch(found)))
		if !bytes.Equal(now, found) {
			h.times[kind]++
		}
		return now
	})
}

// address is another in the place of one of a machine, from the blocks for benchmarks (RFC 2544) and documentation (RFC 3849). Loopback says
// nothing about a machine.
func (h *Hider) address(text string) string {
	if strings.HasPrefix(text, `\`) { // an escape in JSON
		return text[:2] + h.address(text[2:])
	}
	was, err := netip.ParseAddr(strings.TrimSuffix(text, ":"))
	if err != nil || was.IsLoopback() || was.IsUnspecified() || was.Zone() != "" {
		return text
	}
	to, ok := h.addresses[was]
	if !ok {
		n := len(h.addresses) + 1
		if was.Is4() {
			to = netip.AddrFrom4([4]byte{198, 18 + byte(n>>16), byte(n >> 8), byte(n)})
		} else {
			to = netip.AddrFrom16([16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 14: byte(n >> 8), 15: byte(n)})
		}
		h.addresses[was] = to
	}
	return to.String() + text[len(strings.TrimSuffix(text, ":")):]
}
