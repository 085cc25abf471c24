package client

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// fenced returns the code blocks of README.md in a language.
func fenced(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for rest := string(page); ; {
		_, after, found := strings.Cut(rest, "\n```"+language+"\n")
		if !found {
			break
		}
		block, after, _ := strings.Cut(after, "\n```\n")
		blocks, rest = append(blocks, block+"\n"), after
	}
	if len(blocks) == 0 {
		t.Fatalf("README.md has no block in %s", language)
	}
	return blocks
}

// Every line that README.md shows is one that this package reads, with every field that it has.
func TestTranscriptsOfREADMEAreTheProtocol(t *testing.T) {
	commands, reports := map[CommandName]bool{}, map[ReportName]bool{}
	for _, block := range fenced(t, "transcript") {
		for line := range strings.Lines(block) {
			way, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			dec := json.NewDecoder(bytes.NewReader([]byte(text)))
			dec.DisallowUnknownFields()
			switch way {
			case "→":
				var c Command
				if err := dec.Decode(&c); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				commands[c.Cmd] = true
			case "←":
				var r Report
				if err := dec.Decode(&r); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				reports[r.Msg] = true
			default:
				t.Errorf("%q goes neither way", line)
			}
		}
	}
	for _, c := range []CommandName{CmdInit, CmdPing, CmdAcquire, CmdRenew, CmdRead, CmdWrite, CmdRelease, CmdCancel, CmdClose} {
		if !commands[c] {
			t.Errorf("README.md does not show the command %s", c)
		}
	}
	for _, r := range []ReportName{MsgReady, MsgPong, MsgOK, MsgFail, MsgLost, MsgLease, MsgEnded, MsgStage, MsgError} {
		if !reports[r] {
			t.Errorf("README.md does not show the report %s", r)
		}
	}
}
