package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Picture is a picture of a page in the repository. It carries a digest of the words that the page had when it was taken.
type Picture struct {
	File   string // PNG
	Before string // where the words end that the picture shows, or a few more: a text of the page's source
	Retake string // the command that takes it anew
}

// WantWords fails the test if the page says other words than when the picture was taken.
func (p Picture) WantWords(t *testing.T, page string) {
	t.Helper()
	png, err := os.ReadFile(p.File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(png, []byte("tEXt"+keyword+p.digest(t, page))) {
		t.Errorf("%s shows other words than the page has: %s", p.File, p.Retake)
	}
}

// Write keeps a picture that was taken of the page.
func (p Picture) Write(t *testing.T, png []byte, page string) {
	t.Helper()
	body := []byte("tEXt" + keyword + p.digest(t, page))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
	if err := os.WriteFile(p.File, append(append(bytes.Clone(png[:beforeChunk]), chunk...), png[beforeChunk:]...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keyword begins the chunk of the PNG that names the words that were pictured.
const keyword = "words\x00"

// beforeChunk is where a PNG can have a chunk tEXt: after its first eight bytes and its chunk IHDR of 25.
const beforeChunk = 8 + 25

func (p Picture) digest(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown, _, found := bytes.Cut(text, []byte(p.Before))
	if !found {
		t.Fatalf("the page has no %s", p.Before)
	}
	var words []string
	tokens := html.NewTokenizer(bytes.NewReader(shown))
	for hidden := false; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			digest := sha256.Sum256([]byte(strings.Join(words, " ")))
			return hex.EncodeToString(digest[:])
		case html.StartTagToken, html.EndTagToken:
			token := tokens.Token()
			if token.Data == "style" || token.Data == "script" {
				hidden = token.Type == html.StartTagToken
			}
		case html.TextToken:
			if !hidden {
				words = append(words, strings.Fields(string(tokens.Text()))...)
			}
		}
	}
}
