package nemesis

import (
	"regexp"
	"strings"
	"testing"
)

var pattern *regexp.Regexp

func init() { pattern = regexp.MustCompile(Pattern()) } // once the tables are filled

// ascii reports whether a text has no letters of which programs might disagree whether they are spaces.
func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' })
}

// The pattern takes what the parser takes, and refuses slips of the pen.
func TestPattern(t *testing.T) {
	good := []string{
		"none", "pause:holder@acquire,1.5ttl", "clock:one-2ttl,monotonic", "clock:client,drift=-5%", "loss:holder,60%,in", "delay:holder-servers,300ms±100ms,2ttl", "delay:one,0.1ttl+-0.05ttl,in", " pause , kill:one , 2s",
		"partition:client(1)-node(4,5);clock:node(3)+2ttl", "pause:holder,0..1m30s", "pause:holder,1ttl..2ttl", "pause:holder,500ms..1s", "pause:holder,20µs",
		"pause:clients", "pause:holder@worked", "clock:majority+90s,0.5..1.5ttl,wall",
	}
	for _, k := range Kinds {
		good = append(good, k.Name)
		if k.Default != "" {
			good = append(good, k.Default)
		}
	}
	for _, text := range good {
		if _, err := Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if !pattern.MatchString(text) {
			t.Errorf("it refuses %q", text)
		}
	}
	for _, text := range []string{
		"", "pauze", "pause:leadr", "pause:holder@wrok", "pause:holder,2tlt", "pause:holder,", ",pause", "pause;", "pause:", "1.5ttl", "kill:node(1", "pause:holder@", "pause:holder,2", "loss:holder,x%",
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
		if pattern.MatchString(text) {
			t.Errorf("it takes %q", text)
		}
	}
}
