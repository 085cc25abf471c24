package vdso

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// image is the vDSO of a process: where the patch goes, and where its functions begin.
type image struct {
	base  uint64
	size  int
	patch int                // offset of the patch, 16-aligned
	entry [len(doors)]uint64 // offsets of the functions, in the order of doors
}

const patchAlign = 16

// parseImage finds what has to be known in the bytes of a vDSO. It refuses what it does not know well enough to change.
func parseImage(base uint64, mapped []byte) (image, error) {
	img := image{base: base, size: len(mapped)}
	other := func(what string, args ...any) (image, error) {
		return image{}, fmt.Errorf("%w: its vDSO is laid out in a way that lockcheck does not know: %s", ErrUnsupported, fmt.Sprintf(what, args...))
	}
	f, err := elf.NewFile(bytes.NewReader(mapped))
	if err != nil {
		return other("%v", err)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 {
		return image{}, fmt.Errorf("%w: its vDSO is %v %v, and only 64-bit processes of x86-64 can be skewed", ErrUnsupported, f.Class, f.Machine)
	}
	end, ok := imageEnd(f, mapped)
	if !ok {
		return other("its image is longer than its %d mapped bytes", len(mapped))
	}
	img.patch = (end + patchAlign - 1) / patchAlign * patchAlign
	if need := doorsAt + len(patchCode()); img.patch+need > len(mapped) {
		return other("%d bytes of padding behind the image of %d, want %d", len(mapped)-end, end, need)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return other("%v", err)
	}
	for i, d := range doors {
		at, ok := function(f, symbols, d.symbol)
		if !ok {
			return other("no function %s", d.symbol)
		}
		// One word is written at a time: a change that is cut off must leave each function with either beginning.
		if at+jumpSize > uint64(end) || at%wordSize+jumpSize > wordSize {
			return other("%s begins at 0x%x", d.symbol, at)
		}
		img.entry[i] = at
	}
	return img, nil
}

// wordSize is what ptrace writes at once.
const wordSize = 8

// function is the offset of a function from the beginning of the image.
func function(f *elf.File, symbols []elf.Symbol, name string) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		for _, s := range symbols {
			if s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size >= jumpSize && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Memsz {
				return s.Value - p.Vaddr + p.Off, true
			}
		}
	}
	return 0, false
}

// imageEnd is where the image ends and its padding begins.
func imageEnd(f *elf.File, mapped []byte) (int, bool) {
	var header elf.Header64
	if err := binary.Read(bytes.NewReader(mapped), f.ByteOrder, &header); err != nil {
		return 0, false
	}
	end := header.Shoff + uint64(header.Shentsize)*uint64(header.Shnum)
	end = max(end, header.Phoff+uint64(header.Phentsize)*uint64(header.Phnum))
	for _, p := range f.Progs {
		end = max(end, p.Off+max(p.Filesz, p.Memsz))
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS {
			end = max(end, s.Offset+s.FileSize)
		}
	}
	return int(end), end <= uint64(len(mapped))
}
