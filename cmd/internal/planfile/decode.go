package planfile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lockcheck/checker/history"
)

// decoding fills a value with what a text says, strictly: it collects what the value has no place for.
type decoding struct {
	wrong func(at int, format string, args ...any)
}

func (d decoding) into(v reflect.Value, n *node, name string) {
	if n.value == nil && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, v.Kind()) {
		return // as if it were left out
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(v, n, name)
	case reflect.Slice:
		if n.value != json.Delim('[') {
			d.wrong(n.at, "%s is a list, not %s", name, n.what())
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
		for i, item := range n.items {
			d.into(v.Index(i), item, fmt.Sprintf("%s, %d", name, i+1))
		}
	case reflect.Map:
		if n.value != json.Delim('{') {
			d.wrong(n.at, "%s is an object, not %s", name, n.what())
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, f := range n.fields {
			value := reflect.New(v.Type().Elem()).Elem()
			d.into(value, f.node, f.name)
			v.SetMapIndex(reflect.ValueOf(f.name).Convert(v.Type().Key()), value)
		}
	default:
		if wanted := setScalar(v, n.value); wanted != "" {
			d.wrong(n.at, "%s is %s, not %s", name, wanted, n.what())
		}
	}
}

func (d decoding) object(v reflect.Value, n *node, name string) {
	if n.value != json.Delim('{') {
		d.wrong(n.at, "%s is an object, not %s", name, n.what())
		return
	}
	places := map[string]reflect.Value{}
	var names []string
	for i := range v.NumField() {
		known := nameOf(v.Type().Field(i))
		places[known] = v.Field(i)
		names = append(names, known)
	}
	for _, f := range n.fields {
		if !slices.Contains(names, f.name) {
			d.wrong(f.at, "%s: %v", name, history.Unknown("field", f.name, names))
			continue
		}
		d.into(places[f.name], f.node, f.name)
	}
}

// nameOf is what JSON calls a field.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// setScalar returns what the value would have to be, "" if it is that.
func setScalar(v reflect.Value, value json.Token) string {
	switch v.Kind() {
	case reflect.String:
		text, ok := value.(string)
		if !ok {
			return "a text"
		}
		v.SetString(text)
	case reflect.Bool:
		yes, ok := value.(bool)
		if !ok {
			return "true or false"
		}
		v.SetBool(yes)
	case reflect.Int, reflect.Int64:
		number, _ := value.(json.Number)
		n, err := strconv.ParseInt(number.String(), 10, 64)
		if err != nil {
			return "a whole number"
		}
		v.SetInt(n)
	case reflect.Float64:
		number, _ := value.(json.Number)
		n, err := strconv.ParseFloat(number.String(), 64)
		if err != nil {
			return "a number"
		}
		v.SetFloat(n)
	case reflect.Uint64: // written as a text: other programs round numbers of this size
		text, _ := value.(string)
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return `a whole number in quotes, such as "7"`
		}
		v.SetUint(n)
	default:
		panic(fmt.Sprintf("a plan has no %v", v.Type()))
	}
	return ""
}
