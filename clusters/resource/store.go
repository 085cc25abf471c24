// Package resource is the protected resource that lock holders read and write: one register a key, its server and its
// HTTP client. Its log is the run's proof of effects: it numbers every request it handles, so that their order is known
// without any clock (rule R9 in checker/RULES.md).
package resource

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"lockcheck/checker/history"
)

// Mode is what a Store compares before it takes a request.
type Mode struct {
	Kind history.Resource
	// WithoutTokens leaves the tokens of requests out, as if none had been sent: those of a workload that sends none, whatever
	// its clients do.
	WithoutTokens bool
	// Keyed takes the slot that a write records as its idempotency key.
	Keyed bool
}

// comparison is what a Store compares of a request with what it has.
type comparison struct {
	rejects func(history.Kind, Ask, register) bool
	why     func(history.Request) string // the answer says it
}

// comparisons is the whole difference between the kinds of a resource.
//
// A read with a token raises the mark as a write does: otherwise an older holder's write could slip in between the new
// holder's read and its first write, and the update would be built on a value that is no longer there. A request
// without a token has nothing to compare, so fenced accepts it.
var comparisons = map[history.Resource]comparison{
	history.ResourcePlain: {
		rejects: func(history.Kind, Ask, register) bool { return false },
	},
	history.ResourceFenced: {
		rejects: func(_ history.Kind, ask Ask, reg register) bool { return ask.Token != "" && lower(ask.Token, reg.mark) },
		why:     func(q history.Request) string { return fmt.Sprintf("token %s is lower than %s", q.Token, q.Mark) },
	},
	history.ResourceCAS: {
		rejects: func(kind history.Kind, ask Ask, reg register) bool {
			return kind == history.KindWrite && ask.Base != reg.value
		},
		why: func(q history.Request) string {
			return fmt.Sprintf("the value %q that it was built on is not the current one", q.Base)
		},
	},
}

// Log keeps the lines of resource.jsonl. A line is written with one Write call, so that a reader of the file, or a run
// that is killed, sees whole lines only.
type Log interface {
	io.Writer
	io.ReaderAt
}

// ErrLog means that a line of the log could not be written or read. The store answers nothing any more: a request
// without its line would be an effect without a proof.
var ErrLog = errors.New("the resource's log failed")

// Store is the registers and their log. It is safe for concurrent use; requests are handled one at a time.
type Store struct {
	mode  Mode
	with  comparison
	clock func() int64

	mu     sync.Mutex
	log    Log
	size   int64 // bytes of the log
	seq    int64
	keys   map[string]*register
	broken error

	// handled maps each request's number to the offset of its line in the log, which holds the answer: exact
	// deduplication for some 25 bytes a request. Nothing may be forgotten: a packet can come back after any time that
	// a partition lasts, and numbers of slow operations are handled long after higher ones, so no low-water mark exists.
	handled map[uint64]int64
}

type register struct {
	value string
	mark  string // the highest token of a request that was handled and not rejected
	// records are, of a keyed resource, where in the log the first record of each slot is.
	records map[int64]int64
}

// NewStore makes an empty store. The log must be empty; clock gives nanoseconds since the run's start, for display only.
func NewStore(mode Mode, log Log, clock func() int64) (*Store, error) {
	with, known := comparisons[mode.Kind]
	if !known {
		return nil, history.Unknown("resource", string(mode.Kind), history.OwnResourceNames())
	}
	return &Store{mode: mode, with: with, clock: clock, log: log, keys: map[string]*register{}, handled: map[uint64]int64{}}, nil
}

// Handle decides a request, logs it, and only then lets it have its effect and its answer. The error is a bad request,
// or wraps ErrLog.
func (s *Store) Handle(kind history.Kind, ask Ask) (Answer, error) {
	id, err := ask.check(kind)
	if err != nil {
		return Answer{}, err
	}
	if err := s.mode.checkKey(kind, ask); err != nil {
		return Answer{}, err
	}
	if s.mode.WithoutTokens {
		ask.Token = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Answer{}, s.broken
	}
	if offset, ok := s.handled[id]; ok {
		return s.repeat(kind, ask, offset)
	}
	reg := s.keys[ask.Key]
	if reg == nil {
		reg = &register{}
	}
	if answer, done, err := s.deduplicate(id, kind, ask, *reg); done {
		return answer, err
	}
	line, next := s.decide(kind, ask, *reg)
	offset := s.size
	if err := s.append(line); err != nil {
		return Answer{}, err
	}
	if s.mode.Keyed && kind == history.KindWrite && line.Outcome == history.Applied {
		next.record(line.Value, offset)
	}
	*reg = next
	s.keys[ask.Key] = reg
	s.handled[id] = offset
	return s.answer(line), nil
}

// decide is the whole semantics of the resource: what becomes of a request, and of its register.
func (s *Store) decide(kind history.Kind, ask Ask, reg register) (history.Request, register) {
	line := history.Request{
		Request: ask.Request, Key: ask.Key, Kind: kind, Hold: ask.Hold, Token: ask.Token,
		Value: ask.Value, Base: ask.Base, Outcome: history.Applied,
	}
	if s.with.rejects(kind, ask, reg) {
		line.Outcome, line.Mark = history.Rejected, reg.mark
		return line, reg
	}
	if lower(reg.mark, ask.Token) {
		reg.mark = ask.Token
	}
	if kind == history.KindWrite {
		reg.value = ask.Value
	}
	line.Value, line.Mark = reg.value, reg.mark
	return line, reg
}

// repeat answers a request that was handled before as it was answered then. The log is the memory of the answers.
func (s *Store) repeat(kind history.Kind, ask Ask, offset int64) (Answer, error) {
	first, err := s.line(ask.Request, offset)
	if err != nil {
		return Answer{}, err
	}
	same := first.Kind == kind && first.Key == ask.Key && first.Hold == ask.Hold && first.Token == ask.Token &&
		first.Base == ask.Base && (kind == history.KindRead || first.Value == ask.Value)
	if !same {
		return Answer{}, badRequest("request %s was something else before: a number names one request only", ask.Request)
	}
	line := first
	line.Outcome = history.Duplicate
	if reg := s.keys[ask.Key]; reg != nil {
		line.Mark = reg.mark
	}
	if err := s.append(line); err != nil {
		return Answer{}, err
	}
	if first, err = s.answered(first); err != nil {
		return Answer{}, err
	}
	return s.answer(first), nil
}

// line reads a line of the log back for a request that needs it.
func (s *Store) line(request string, offset int64) (line history.Request, err error) {
	raw, err := bufio.NewReader(io.NewSectionReader(s.log, offset, s.size-offset)).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(raw, &line)
	}
	if err != nil {
		s.broken = fmt.Errorf("%w: reading back request %s at byte %d: %w", ErrLog, request, offset, err)
		return line, s.broken
	}
	return line, nil
}

// append numbers a line and writes it with one call.
func (s *Store) append(line history.Request) error {
	line.Seq, line.TimeNS = s.seq+1, s.clock()
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = s.log.Write(append(raw, '\n'))
	}
	if err != nil {
		s.broken = fmt.Errorf("%w: writing request %s: %w", ErrLog, line.Request, err)
		return s.broken
	}
	s.seq, s.size = s.seq+1, s.size+int64(len(raw))+1
	return nil
}

func (s *Store) answer(line history.Request) Answer {
	a := Answer{Outcome: line.Outcome, Mark: line.Mark}
	switch line.Outcome {
	case history.Applied:
		a.Value = line.Value
	case history.Rejected:
		a.Error = s.with.why(line)
	}
	return a
}
