package svg

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// PackedTable is a table of integers for page/timeline/data.js: column after column, each value as a zigzag varint, of the
// difference to the row before where the column counts up; all of that deflated, in base64url (which has no // that could
// look like an address). A row of a long run takes some 5 bytes, a tenth of what JSON would.
type PackedTable struct {
	Rows    int            `json:"rows"`
	Columns []PackedColumn `json:"columns"`
	Data    string         `json:"data"`
}

// PackedColumn says how to unpack a column. One that is the same in every row is not in the data: Same is its value.
type PackedColumn struct {
	Name  string `json:"name"`
	Delta bool   `json:"delta,omitempty"`
	Same  *int64 `json:"same,omitempty"`
}

// column is one column to be packed: its value in row i.
type column struct {
	name  string
	delta bool
	value func(i int) int64
}

// same is the value of a column that has one only; an empty column's is 0.
func (c column) same(rows int) (value int64, ok bool) {
	for i := range rows {
		v := c.value(i)
		if i > 0 && v != value {
			return 0, false
		}
		value = v
	}
	return value, true
}

func packTable(rows int, columns []column) PackedTable {
	t := PackedTable{Rows: rows}
	var deflated bytes.Buffer
	encoded := base64.NewEncoder(base64.RawURLEncoding, &deflated)
	// Errors of the writers below could only be those of a bytes.Buffer, which has none; the level is valid.
	w, _ := flate.NewWriter(encoded, flate.DefaultCompression)
	var buffer []byte
	for _, c := range columns {
		if same, ok := c.same(rows); ok {
			t.Columns = append(t.Columns, PackedColumn{c.name, c.delta, &same})
			continue
		}
		t.Columns = append(t.Columns, PackedColumn{c.name, c.delta, nil})
		last := int64(0)
		for i := range rows {
			v := c.value(i)
			if c.delta {
				v, last = v-last, v
			}
			buffer = binary.AppendVarint(buffer, v)
			if len(buffer) >= 32<<10 || i == rows-1 {
				_, _ = w.Write(buffer)
				buffer = buffer[:0]
			}
		}
	}
	_, _ = w.Close(), encoded.Close()
	t.Data = deflated.String()
	return t
}

// Packed times count units: a µs, which a screen can show of hours, and in long runs ten, which halves them.
const (
	unitNS     = 1_000
	longUnitNS = 10_000
	longRows   = 100_000
)

// units is a moment as it is packed.
func (b *timelineBuilder) units(ns int64) int64 { return (ns + b.UnitNS/2) / b.UnitNS }

// pack fills the tables that the page reads. Lengths are packed instead of ends, because they are small.
func (b *timelineBuilder) pack() {
	if b.UnitNS = unitNS; max(len(b.holds), len(b.writes)) > longRows {
		b.UnitNS = longUnitNS
		b.LeftOut = append(b.LeftOut, "moments are shown to "+history.Duration(longUnitNS))
	}
	texts := &textTable{index: map[string]int64{}, clip: b.clip, room: b.limits.textBytes}
	for i := range b.holds {
		texts.count(b.holds[i].token)
	}
	for i := range b.writes {
		texts.count(b.writes[i].token)
		texts.count(b.writes[i].mark)
	}
	b.packHolds(texts)
	b.packWrites(texts)
	b.Texts, b.Origin = texts.all, strconv.FormatInt(texts.origin, 10)
	b.leaveOut(texts.left, "token or value is left out for its length", "tokens or values are left out for their length")
}

func (b *timelineBuilder) packHolds(texts *textTable) {
	h := b.holds
	b.Holds = packTable(len(h), []column{
		{"done", true, func(i int) int64 { return b.units(h[i].doneNS) }},
		{"waited", false, func(i int) int64 { return b.units(h[i].doneNS) - b.units(h[i].askNS) }},
		{"believed", false, func(i int) int64 { return b.units(h[i].believedNS) - b.units(h[i].doneNS) }},
		{"unsure", false, func(i int) int64 { return b.units(h[i].endNS) - b.units(h[i].believedNS) }},
		{"lease", false, func(i int) int64 { // from the grant on, and 1; 0: not known to end
			if h[i].leaseNS == 0 {
				return 0
			}
			return max(b.units(h[i].leaseNS)-b.units(h[i].doneNS), 0) + 1
		}},
		{"client", false, func(i int) int64 { return int64(h[i].client) }},
		{"lock", false, func(i int) int64 { return int64(h[i].lock) }},
		{"token", true, func(i int) int64 { return texts.token(h[i].token) }},
		{"part", false, func(i int) int64 { return int64(h[i].part) }},
		{"granted", false, func(i int) int64 { return flag(h[i].granted) }},
		{"count", false, func(i int) int64 { return h[i].count }},
	})
}

func (b *timelineBuilder) packWrites(texts *textTable) {
	w := b.writes
	all := len(w) <= b.limits.values
	b.Writes = packTable(len(w), []column{
		{"time", true, func(i int) int64 { return b.units(w[i].timeNS) }},
		{"seq", true, func(i int) int64 { return w[i].seq }},
		{"client", false, func(i int) int64 { return int64(w[i].client) + 1 }},
		{"lock", false, func(i int) int64 { return int64(w[i].lock) }},
		{"token", true, func(i int) int64 { return texts.token(w[i].token) }},
		{"mark", true, func(i int) int64 { return texts.token(w[i].mark) }},
		{"value", true, func(i int) int64 {
			if !all && w[i].part == partNone {
				return 0
			}
			return texts.text(w[i].value)
		}},
		{"outcome", false, func(i int) int64 {
			for at, outcome := range writeOutcomes {
				if w[i].outcome == outcome {
					return int64(at)
				}
			}
			return int64(len(writeOutcomes))
		}},
		{"part", false, func(i int) int64 { return int64(w[i].part) }},
		{"count", false, func(i int) int64 { return w[i].count }},
	})
	if !all {
		b.LeftOut = append(b.LeftOut, "what the writes wrote, but for those of findings, is in "+rundir.ResourceFile+" only")
	}
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// textTable is where tokens and values go. Nearly all tokens are numbers near each other: those are packed as their
// distance from the smallest. JavaScript counts exactly to 2^53, so what is further away is a text.
type textTable struct {
	origin  int64 // the smallest number
	counted bool  // there is one
	index   map[string]int64
	all     []string
	clip    func(string) string
	room    int // bytes of text that may still be added
	left    int64
}

const maxTokenDistance = 1 << 52

// count has to see all tokens before the first is packed.
func (t *textTable) count(token string) {
	if n, ok := tokenNumber(token); ok && (!t.counted || n < t.origin) {
		t.origin, t.counted = n, true
	}
}

// tokenNumber is the number that a token is the usual way of writing of.
func tokenNumber(token string) (int64, bool) {
	if token == "" || token[0] < '0' || token[0] > '9' || token[0] == '0' && token != "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(token, 10, 64)
	return n, err == nil
}

// token is 0 for none, positive for a number and negative for a text.
func (t *textTable) token(token string) int64 {
	if n, ok := tokenNumber(token); ok && n-t.origin < maxTokenDistance {
		return n - t.origin + 1
	}
	return -t.text(token)
}

// text is 0 for none, else one more than its place in the table.
func (t *textTable) text(s string) int64 {
	if s == "" {
		return 0
	}
	if at, ok := t.index[s]; ok {
		return at
	}
	clipped := t.clip(s)
	if t.room < len(clipped) {
		t.left++
		return 0
	}
	t.room -= len(clipped)
	t.all = append(t.all, clipped)
	at := int64(len(t.all))
	if len(s) <= 2*len(clipped) { // a huge one is not kept for looking it up
		t.index[s] = at
	}
	return at
}
