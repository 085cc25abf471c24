package checker

// slab hands out the elements of large blocks one by one: a history has millions of small records that all live as long
// as their model, and making each of them by itself costs more time and memory than what is in it.
type slab[T any] struct{ free []T }

const slabSize = 512

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.free = make([]T, slabSize)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

// list makes an empty list with room for n elements; one that outgrows it moves elsewhere, as slices do.
func (s *slab[T]) list(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(slabSize, n))
	}
	l := s.free[:0:n]
	s.free = s.free[n:]
	return l
}
