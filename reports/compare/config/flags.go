package config

import (
	"fmt"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"lockcheck/reports/compare"
)

// settings are the flags of lockcheck run that the file can set, by name, each with what a value has to be. What only
// the command knows, such as the range that a backend can honour, it checks before the first run.
func (r *reader) settings() map[string]func(value string) error {
	return map[string]func(string) error{
		"client":     word,
		"guard":      in(r.known.Guards),
		"provider":   in(r.known.Providers),
		"image":      word,
		"server-bin": word,
		"server-jar": word,
		"clients":    number(2, 100),
		"keys":       number(1, 1000),
		"nodes":      number(1, 1000),
		"ttl":        span(time.Millisecond, 24*time.Hour),
		"time-limit": span(time.Second, 24*time.Hour),
	}
}

var settingNames = []string{"client", "guard", "provider", "image", "server-bin", "server-jar", "clients", "keys", "nodes", "ttl", "time-limit", "set"}

func word(string) error { return nil }

func in(table []string) func(string) error {
	return func(value string) error {
		for _, w := range table {
			if w == value {
				return nil
			}
		}
		return fmt.Errorf("there is no %q; there are: %v", value, table)
	}
}

func number(least, most int) func(string) error {
	return func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return fmt.Errorf("%q is no number from %d to %d", value, least, most)
		}
		return nil
	}
}

func span(least, most time.Duration) func(string) error {
	return func(value string) error {
		if d, err := time.ParseDuration(value); err != nil || d < least || d > most {
			return fmt.Errorf("%q is no length of time from %v to %v, such as 30s", value, least, most)
		}
		return nil
	}
}

// flags reads a mapping of flags of lockcheck run; backend takes the key of that name, where there may be one.
func (r *reader) flags(node *yaml.Node, what string, backend func(key, value *yaml.Node)) (flags []compare.Flag) {
	settings := r.settings()
	var fields []field
	for _, name := range settingNames {
		if name == "set" {
			fields = append(fields, field{name, func(_, value *yaml.Node) {
				r.each(value, "set", func(key, value *yaml.Node) {
					if text, ok := r.scalar(value, "set "+key.Value); ok {
						flags = append(flags, compare.Flag{Name: "set", Value: key.Value + "=" + text})
					}
				})
			}})
			continue
		}
		fields = append(fields, field{name, func(_, value *yaml.Node) {
			text, ok := r.scalar(value, name)
			if !ok {
				return
			}
			if err := settings[name](text); err != nil {
				r.errorf(value, "%s: %v", name, err)
				return
			}
			flags = append(flags, compare.Flag{Name: name, Value: text})
		}})
	}
	if backend != nil {
		fields = append(fields, field{"backend", backend})
	}
	r.mapping(node, what, fields)
	return flags
}
