package locktest

import (
	"reflect"
	"regexp"
	"strings"
)

// flagWord is a flag of lockcheck run, as errors name it.
var flagWord = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// fieldOf is the field of a plan that stands for a flag of lockcheck run. Its name is the flag's, without the dashes.
func fieldOf(flag string) (reflect.StructField, bool) {
	name := strings.ReplaceAll(flag, "-", "")
	return reflect.TypeFor[Plan]().FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
}

// inFields says of a plan's fields what an error says of flags: the author of a plan in Go has given none.
func inFields(text string) string {
	return flagWord.ReplaceAllStringFunc(text, func(flag string) string {
		field, ok := fieldOf(strings.TrimPrefix(flag, "--"))
		if !ok {
			return flag
		}
		return field.Name
	})
}
