package svg

// thinner merges neighbours of one group that fall into one slot of time, once there are more items than the limit. What
// is to be kept is kept as it is. Items are made when they are needed: a run may have millions, and few are drawn.
type thinner[T any] struct {
	limit  int
	end    int64
	groups int
	merge  func(into, item *T)
	n      int // items there are
}

// all draws the items, which are gone through twice: to count them first.
func (t *thinner[T]) all(items func(yield func(group int, at int64, keep bool, make func() T))) []T {
	items(func(int, int64, bool, func() T) { t.n++ })
	out := make([]T, 0, min(t.n, t.limit))
	if t.n <= t.limit {
		items(func(_ int, _ int64, _ bool, make func() T) { out = append(out, make()) })
		return out
	}
	slots := max(int64(t.limit/max(t.groups, 1)), 1)
	slot := max(t.end/slots, 1)
	type bucket struct {
		group int
		slot  int64
	}
	at := map[bucket]int{}
	items(func(group int, ns int64, keep bool, make func() T) {
		b := bucket{group, ns / slot}
		item := make()
		if into, ok := at[b]; ok && !keep {
			t.merge(&out[into], &item)
			return
		}
		if !keep {
			at[b] = len(out)
		}
		out = append(out, item)
	})
	return out
}
