package checker

// distinct counts different clients, up to two: whether there are several is all that is asked.
type distinct struct{ first, second int32 } // numbers of clients, from 1; 0 is none

// add takes a client's number, from 0.
func (d *distinct) add(client int32) {
	switch client++; {
	case d.first == 0:
		d.first = client
	case d.second == 0 && client != d.first:
		d.second = client
	}
}

func (d *distinct) several() bool { return d.second != 0 }

func (d *distinct) count() int {
	switch {
	case d.several():
		return 2
	case d.first != 0:
		return 1
	}
	return 0
}
