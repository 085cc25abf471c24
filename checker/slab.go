package checker

// slab hands out the elements of blocks one by one: a history has millions of small records that all live as long as
// their model, and making each of them by itself costs more time and memory than what is in it. Blocks grow, so that a
// small history costs little.
type slab[T any] struct {
	free  []T
	block int
}

const (
	smallestBlock = 8
	largestBlock  = 512
)

func (s *slab[T]) need(n int) {
	if len(s.free) < n {
		s.block = max(n, smallestBlock, min(2*s.block, largestBlock))
		s.free = make([]T, s.block)
	}
}

func (s *slab[T]) next() *T {
	s.need(1)
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

// list makes an empty list with room for n elements; one that outgrows it moves elsewhere, as slices do.
func (s *slab[T]) list(n int) []T {
	s.need(n)
	l := s.free[:0:n]
	s.free = s.free[n:]
	return l
}
