package jepsen

// maxPairwise is up to how many keys or elements are compared with one another without making their texts.
const maxPairwise = 16

// unrepeated refuses a map with two equal keys and a set with two equal elements: no program ever had such a value, so
// which of the two was meant is not known.
func (r *reader) unrepeated(n *node, line int) error {
	step, what := 1, "a set with %s twice"
	switch n.kind {
	case Map:
		step, what = 2, "a map with the key %s twice"
	case Set:
	default:
		return nil
	}
	if again, repeated := repeats(n.items, step); repeated {
		return r.mistakeAt(line, what, shorten(again.String()))
	}
	return nil
}

// repeats finds, of every step-th value, one that equals another before it.
func repeats(values []Value, step int) (again Value, repeated bool) {
	if len(values) > step*maxPairwise {
		seen := make(map[string]bool, len(values)/step)
		for i := 0; i < len(values); i += step {
			text := values[i].String()
			if seen[text] {
				return values[i], true
			}
			seen[text] = true
		}
		return Value{}, false
	}
	for i := step; i < len(values); i += step {
		for k := 0; k < i; k += step {
			if values[k].equals(values[i]) {
				return values[i], true
			}
		}
	}
	return Value{}, false
}
