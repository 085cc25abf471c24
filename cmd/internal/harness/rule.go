package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// Rule says what the value of a flag can be; the zero Rule takes all.
type Rule struct {
	// Check says why a value cannot be; nil is fine. name is what the flag is called where the value stands: --clients on a
	// command line, clients in a file.
	Check func(name, value string) error
	// Words are all that it can be; nil if they cannot be listed.
	Words []string
	// Schema is what JSON Schema can say of such a value in a file.
	Schema map[string]any
}

// oneOf is a rule for a word of a table; what is what the table is of.
func oneOf(what string, table []string) Rule {
	check := func(name, value string) error {
		if !slices.Contains(table, value) {
			return fmt.Errorf("%s: %w", name, history.Unknown(what, value, table))
		}
		return nil
	}
	return Rule{check, table, map[string]any{"enum": table}}
}

// number is a rule for whole numbers, both ends included; why is said of one that is out of range, or "".
func number(from, to int, why string) Rule {
	if why != "" {
		why = "; " + why
	}
	check := func(name, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %q is no number from %d to %d", name, value, from, to)
		case n < from || n > to:
			return fmt.Errorf("%s=%s: use %d to %d%s", name, value, from, to, why)
		}
		return nil
	}
	// A file may have it in quotes.
	return Rule{check, nil, map[string]any{"type": []string{"integer", "string"}, "minimum": from, "maximum": to, "pattern": "^[+]?[0-9]+$"}}
}

// span is a rule for lengths of time, both ends included.
func span(shortest, longest time.Duration) Rule {
	from, to := brief(shortest), brief(longest)
	check := func(name, value string) error {
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %q is no length of time from %s to %s, such as 30s", name, value, from, to)
		case d < shortest || d > longest:
			return fmt.Errorf("%s=%s: use %s to %s", name, value, from, to)
		}
		return nil
	}
	return Rule{check, nil, map[string]any{"type": "string", "pattern": durationPattern, "examples": []string{"2s", "500ms", "1m30s"}}}
}

// workRule is a rule for how long holders work.
var workRule = Rule{Check: func(name, value string) error {
	if _, err := history.ParseWork(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}, Schema: map[string]any{"type": "string", "examples": []string{history.DefaultWork.String()}}}

// durationPattern has all that time.ParseDuration takes, but for what is not above zero.
const durationPattern = `^[+]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// brief is a length of time without the zeros at its end: 24h, not 24h0m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
