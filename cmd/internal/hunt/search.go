// Package hunt searches the plans that a run can have for one that shows a failure which nobody named: it says what to run next, and learns
// from what came of it. It starts nothing itself.
package hunt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lockcheck/checker/model"
	"lockcheck/nemesis"
)

// Trial is one run to be made.
type Trial struct {
	N       int              `json:"n"` // from 1
	Origin  Origin           `json:"origin"`
	By      nemesis.Mutation `json:"by,omitempty"`
	Nemesis string           `json:"nemesis"`
	Seed    int64            `json:"seed"`

	spec nemesis.Spec
}

// Origin is how a trial was chosen.
type Origin string

// The origins. Every third trial is uniform, so that a hunt is at worst three times slower than chance, and measures chance beside itself.
const (
	Uniform  Origin = "uniform"
	Usual    Origin = "usual"    // the default mix of a kind
	Single   Origin = "single"   // several single steps of the covering array
	Pair     Origin = "pair"     // of two single steps that came close
	Sequence Origin = "sequence" // of usual steps and of some that came close, varied
	Several  Origin = "several"  // such steps one at a time
	Mutated  Origin = "mutated"
)

// Outcome is what came of a trial.
type Outcome struct {
	Verdict model.Verdict `json:"verdict,omitempty"`
	// Barren is why it taught nothing, such as that the machine stood still; "" if it did.
	Barren string `json:"barren,omitempty"`
	// Features are what the run did to its locks, each with the order of magnitude of how often.
	Features []string `json:"features,omitempty"`
	Margins  []Margin `json:"margins,omitempty"`
	Finds    []Find   `json:"finds,omitempty"`
	Dir      string   `json:"dir,omitempty"`
	// Unmade is the exit code of a run that came to no verdict; 0 for others.
	Unmade int `json:"unmade,omitempty"`
}

// Margin is how far a run stayed from a violation, in nanoseconds, or tokens.
type Margin struct {
	Property model.Name `json:"property"`
	By       int64      `json:"by"`
}

// Find is a violation of what the hunt is for.
type Find struct {
	Signature string     `json:"signature"` // of property, party and shape
	Property  model.Name `json:"property"`
	Party     string     `json:"party,omitempty"` // that broke the promise, as far as that is proven
	Shape     string     `json:"shape,omitempty"` // what each client did, without names and times
	Summary   string     `json:"summary"`
	Cause     string     `json:"cause,omitempty"`   // its kind
	Finding   string     `json:"finding,omitempty"` // its ID in the report of the run
	Times     int        `json:"times,omitempty"`   // findings of the run that have this signature
	Known     string     `json:"known,omitempty"`   // a scenario of the gallery in which the same client violates the same property
}

// News is what an outcome added.
type News struct {
	Features int    // that a second run had now: one run's may be noise
	Closer   bool   // a run came closer to the violation of a property than any before it
	New      []Find // with signatures that no run before had
}

// Search decides what to run. The same seed and the same outcomes in the same order lead to the same decisions.
type Search struct {
	menu    nemesis.Menu
	only    Origin // of all trials; "": as the search chooses
	r       *rand.Rand
	seed    int64
	n       int
	guided  int             // trials that were not uniform
	mixes   []nemesis.Spec  // the default ones of all kinds
	corpus  []nemesis.Spec  // their faults
	usual   []nemesis.Spec  // those that were not tried yet
	covers  bool            // the covering array is made
	singles []nemesis.Spec  // of it, that were not tried yet
	made    map[string]bool // kinds of faults that were in a run
	// suspects are to be tried alone: a run with several of them could not be made.
	suspects []nemesis.Spec
	failed   map[string]int // kinds that were in no run that was made, and how often one failed alone
	retries  []nemesis.Spec // that failed alone once: suspects again after the next run that is made
	seen     map[string]int // features, and how many runs had them
	elites   map[Cell]*elite
	arms     map[nemesis.Mutation]*arm
	closest  map[model.Name]int // the least order of magnitude of a margin
	banned   map[string]bool    // kinds of faults that a run could not be made with
	paired   map[string]bool    // pairs that were made
	found    map[string]bool    // signatures
}

// Cell is a kind of trial of which the map of elites keeps the one that came closest to a violation.
type Cell struct {
	Property model.Name
	Kinds    string // of the steps of its nemesis
}

// NewStates stands in a Cell for trials that brought a lock into new states, whatever they came close to.
const NewStates model.Name = "new states"

type elite struct {
	spec nemesis.Spec
	bin  int // the order of magnitude of its margin, violations having the smallest; of new states, the fewer the greater
}

// NewSearch begins a search.
func NewSearch(menu nemesis.Menu, seed int64) *Search {
	s := &Search{menu: menu, r: rand.New(rand.NewPCG(uint64(seed), 0x68756e74)), seed: seed, seen: map[string]int{}, elites: map[Cell]*elite{},
		arms: map[nemesis.Mutation]*arm{}, paired: map[string]bool{}, failed: map[string]int{}, made: map[string]bool{}, closest: map[model.Name]int{}, banned: map[string]bool{}, found: map[string]bool{}}
	s.menu.Takes = func(spec nemesis.Spec) bool {
		return !slices.ContainsFunc(spec.Faults(), func(one nemesis.Spec) bool { return s.banned[one.KindsOf()] }) && (menu.Takes == nil || menu.Takes(spec))
	}
	s.mixes = s.menu.Usual()
	for _, mix := range s.mixes {
		s.corpus = append(s.corpus, mix.Faults()...)
	}
	s.usual = headlines(s.r, s.mixes)
	for _, by := range nemesis.Mutations() {
		s.arms[by] = &arm{1, 1}
	}
	return s
}

// Only makes all further trials uniform, or the usual default mixes one after another. It is what a search is compared with.
func (s *Search) Only(origin Origin) { s.only = origin }

// Next is the trial to make next: every third by chance. Of the others the default mixes come first, then in turn what covers the grammar, what is made of
// steps that came close, and what is made of usual ones. The trial has no nemesis if no run can have any fault.
func (s *Search) Next() Trial {
	s.n++
	t := Trial{N: s.n, Seed: s.seed + int64(s.n)}
	switch {
	case s.only == Usual && len(s.mixes) > 0:
		t.Origin, t.spec = Usual, s.mixes[uint64(t.Seed)%uint64(len(s.mixes))]
	case s.only == "" && s.n%3 != 0:
		s.guide(&t)
	}
	if t.spec == nil {
		t.Origin, t.By, t.spec = Uniform, "", s.menu.Draw(s.r)
	}
	t.Nemesis = t.spec.String()
	return t
}

func (s *Search) guide(t *Trial) {
	if len(s.suspects) > 0 {
		t.Origin, t.spec = Single, s.suspects[0]
		s.suspects = s.suspects[1:]
		return
	}
	if len(s.usual) > 0 {
		t.Origin, t.spec = Usual, s.joined(&s.usual)
		return
	}
	s.guided++
	switch s.guided % 6 {
	case 0:
		if t.Origin, t.spec = Single, s.uncovered(); t.spec == nil {
			t.Origin, t.spec = Pair, s.pair()
		}
	case 1:
		t.Origin, t.spec = Sequence, s.sequence()
	case 2, 3:
		t.Origin = Mutated
		t.spec, t.By = s.mutant()
	case 5:
		t.Origin, t.spec = Pair, s.pair()
	case 4:
		if t.Origin, t.spec = Several, s.several(); s.r.IntN(2) == 0 && len(s.mixes) > 0 {
			t.Origin, t.spec = Usual, s.mixes[s.r.IntN(len(s.mixes))]
		}
	}
}

// Learn takes what came of a trial. Barren ones count as trials, and earn nothing.
func (s *Search) Learn(t Trial, o Outcome) (news News) {
	s.suspect(t.spec, o.Unmade != 0)
	if o.Barren == "" {
		for _, feature := range o.Features {
			if s.seen[feature]++; s.seen[feature] == 2 {
				news.Features++
			}
		}
		for _, m := range o.Margins {
			bin := magnitude(m.By)
			s.keep(m.Property, t.spec, bin)
			if least, known := s.closest[m.Property]; !known || bin < least {
				s.closest[m.Property], news.Closer = bin, true
			}
		}
		if news.Features > 0 || len(o.Finds) > 0 {
			s.keep(NewStates, t.spec, max(0, 30-news.Features))
		}
		for _, find := range o.Finds {
			if !s.found[find.Signature] {
				s.found[find.Signature] = true
				news.New = append(news.New, find)
			}
		}
	}
	if a := s.arms[t.By]; a != nil {
		a.learn(news.Features > 0 || news.Closer || len(news.New) > 0)
	}
	return news
}

// mostAlone is how often a kind that was in no run yet may fail alone: one failure may be the machine's.
const mostAlone = 2

// suspect learns which kinds of faults a run can be made with. Those of a trial that came to nothing which were in no run yet are tried alone. A kind
// that fails alone twice is banned; one that was in a run is not.
func (s *Search) suspect(spec nemesis.Spec, unmade bool) {
	var suspects []nemesis.Spec
	for _, one := range spec.Faults() {
		switch kind := one.KindsOf(); {
		case !unmade:
			s.made[kind] = true
		case !s.made[kind] && !slices.ContainsFunc(suspects, func(other nemesis.Spec) bool { return other.KindsOf() == kind }):
			suspects = append(suspects, one)
		}
	}
	if !unmade {
		s.suspects, s.retries = append(s.suspects, s.retries...), nil
		return
	}
	if len(spec.Faults()) > 1 || len(suspects) == 0 {
		s.suspects = append(s.suspects, suspects...)
		return
	}
	kind := suspects[0].KindsOf()
	if s.failed[kind]++; s.failed[kind] < mostAlone {
		s.retries = append(s.retries, suspects[0])
		return
	}
	s.banned[kind] = true
	for _, list := range []*[]nemesis.Spec{&s.singles, &s.usual, &s.corpus, &s.mixes, &s.suspects, &s.retries} {
		*list = slices.DeleteFunc(*list, func(other nemesis.Spec) bool {
			return slices.ContainsFunc(other.Faults(), func(one nemesis.Spec) bool { return s.banned[one.KindsOf()] })
		})
	}
}

// keep makes a trial the elite of its cell if it came closer than that.
func (s *Search) keep(property model.Name, spec nemesis.Spec, bin int) {
	if len(spec[0]) > 1 { // which of the mix it was is not known
		for _, one := range spec.Faults() {
			s.keep(property, one, bin+1)
		}
		return
	}
	cell := Cell{property, spec.KindsOf()}
	if e := s.elites[cell]; e == nil || bin < e.bin {
		s.elites[cell] = &elite{spec, bin}
	}
}

// Seen is how many features two runs had.
func (s *Search) Seen() (n int) {
	for _, runs := range s.seen {
		if runs > 1 {
			n++
		}
	}
	return n
}

// magnitude is the order of magnitude of a margin, 0 for none left.
func magnitude(by int64) int {
	if by <= 0 {
		return 0
	}
	return 1 + int(2*math.Log10(float64(by)))
}

// arm is how often a mutation brought something new, and how often not; older trials count less.
type arm struct{ won, lost float64 }

const discount = 0.98

func (a *arm) learn(won bool) {
	a.won, a.lost = 1+(a.won-1)*discount, 1+(a.lost-1)*discount
	if won {
		a.won++
	} else {
		a.lost++
	}
}

// draw draws from the arm's Beta distribution, as the share of two Gamma-distributed values.
func (a *arm) draw(r *rand.Rand) float64 {
	x, y := gamma(r, a.won), gamma(r, a.lost)
	return x / (x + y)
}

// gamma draws from a Gamma distribution of shape 1 or more.
// Source: Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26 (2000).
func gamma(r *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// String names a trial in a line.
func (t Trial) String() string {
	if t.By != "" {
		return fmt.Sprintf("%s (%s)", t.Nemesis, t.By)
	}
	return fmt.Sprintf("%s (%s)", t.Nemesis, t.Origin)
}
