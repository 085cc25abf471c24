package zookeeper

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// predecessor is the node before own in the queue, "" if own is first, and whether own is in it at all.
func predecessor(names []string, own string) (before string, present bool) {
	queue := inQueue(names)
	at := slices.Index(queue, own)
	switch {
	case at < 0:
		return "", false
	case at == 0:
		return "", true
	}
	return queue[at-1], true
}

// inQueue is those names that end in a sequence number, by that.
func inQueue(names []string) []string {
	numbers := map[string]int64{}
	for _, name := range names {
		if n, ok := sequence(name); ok {
			numbers[name] = n
		}
	}
	return slices.SortedFunc(maps.Keys(numbers), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
}

// sequence is the number that the server gave to a node: its last ten digits.
func sequence(name string) (int64, bool) {
	const digits = 10
	if len(name) < digits {
		return 0, false
	}
	n, err := strconv.ParseInt(name[len(name)-digits:], 10, 64)
	return n, err == nil
}
