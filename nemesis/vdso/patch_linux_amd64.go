package vdso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// patch is what was found of ours in a process's memory.
type patch struct {
	marked   bool             // the marker is there
	jumps    [len(doors)]bool // which functions jump into it
	begun    bool             // one does
	complete bool             // all do
	selector uint64
	sets     [2]set
}

// errTorn is a patch that was changed while it was read.
var errTorn = errors.New("the patch changed while it was read")

// inForce is the set that the stub uses.
func (p patch) inForce() set { return p.sets[p.selector&1] }

// jumpInto is the jump that begins a patched function.
func (img image) jumpInto(i int) []byte {
	return jump(int64(img.entry[i]), int64(img.patch+doorAt(i)))
}

// findPatch looks for a patch in the bytes of a vDSO. It refuses padding that holds anything else.
func (img image) findPatch(mapped []byte) (patch, error) {
	p := patch{complete: true, sets: [2]set{identity(), identity()}}
	for i, entry := range img.entry {
		p.jumps[i] = bytes.Equal(mapped[entry:entry+jumpSize], img.jumpInto(i))
		p.begun = p.begun || p.jumps[i]
		p.complete = p.complete && p.jumps[i]
	}
	padding := mapped[img.patch:]
	p.marked = bytes.HasPrefix(padding, []byte(marker))
	if !p.marked && (p.begun || len(bytes.Trim(padding, "\x00")) > 0) {
		return p, fmt.Errorf("%w: the padding of its vDSO is in use, by another version of lockcheck or by another program; restart the process", ErrUnsupported)
	}
	// It goes on counting from what remains: a thread may still be on its way through code that nothing jumps into any more, and
	// must not take the next change for the one that it began with.
	p.selector = binary.LittleEndian.Uint64(padding[selectorAt:])
	if !p.begun { // at most the remains of a process that died before the first jump, or whose functions were put back
		return p, nil
	}
	if !bytes.HasPrefix(padding[doorsAt:], patchCode()) {
		return p, fmt.Errorf("%w: its vDSO was changed by another version of lockcheck; restart the process", ErrUnsupported)
	}
	for i := range p.sets {
		p.sets[i] = decodeSet(padding[setsAt+i*setSize:])
	}
	return p, nil
}

// read reads a vDSO and what was changed in it.
func (t target) read(read func(at uint64, into []byte) error) (image, patch, error) {
	mapped := make([]byte, t.size)
	if err := read(t.base, mapped); err != nil {
		return image{}, patch{}, fmt.Errorf("read its vDSO: %w", err)
	}
	img, err := parseImage(t.base, mapped)
	if err != nil {
		return image{}, patch{}, err
	}
	p, err := img.findPatch(mapped)
	return img, p, err
}

// write puts a set in force. At whichever moment the writing ends, the process goes on with the old set or the new one: the
// marker first, so that a half-made patch is known for one; then what is not looked at yet; then the selector, one word;
// then the jumps, one word each.
func (img image) write(write func(at uint64, data []byte) error, p patch, next set) error {
	at := img.base + uint64(img.patch)
	if !p.marked {
		if err := write(at, []byte(marker)); err != nil {
			return err
		}
	}
	if !p.complete {
		if err := write(at+doorsAt, patchCode()); err != nil {
			return err
		}
	}
	selector := p.selector + 1
	if err := write(at+setsAt+setSize*(selector&1), next.encode()); err != nil {
		return err
	}
	if err := write(at+selectorAt, binary.LittleEndian.AppendUint64(nil, selector)); err != nil {
		return err
	}
	for i, entry := range img.entry {
		if p.jumps[i] {
			continue
		}
		if err := write(img.base+entry, img.jumpInto(i)); err != nil {
			return err
		}
	}
	return nil
}
