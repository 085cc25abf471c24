package locktest

import (
	"reflect"
	"regexp"
	"strings"
)

// flagWord is a flag of lockcheck run, as errors name it.
var flagWord = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// inFields says of a plan's fields what an error says of flags: whoever wrote a plan in Go has given none. A field's name is
// that of its flag, without the dashes.
func inFields(text string) string {
	return flagWord.ReplaceAllStringFunc(text, func(flag string) string {
		name := strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "")
		field, ok := reflect.TypeFor[Plan]().FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
		if !ok {
			return flag
		}
		return field.Name
	})
}
