package checker

// maxBreaches bounds how many breaches of a log are kept, of about a kilobyte each: a log whose every line is invented is an answer to
// what was asked, and must not end the judging for want of memory.
const maxBreaches = 100_000

// breaches are those of a whole log: the first of them, and what matters of the rest.
type breaches struct {
	kept     []*breach
	more     int64 // how many came after those
	distrust bool  // one of all of them is such that nothing may be concluded from the log any more
}

// take adds those that are none of nil.
func (b *breaches) take(found ...*breach) {
	for _, one := range found {
		if one == nil {
			continue
		}
		b.distrust = b.distrust || one.kind.distrusts()
		if len(b.kept) == maxBreaches {
			b.more++
			continue
		}
		b.kept = append(b.kept, one)
	}
}
