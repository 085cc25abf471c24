package compare

import (
	"slices"
	"strings"
)

// Axis is a flag of lockcheck run of which the matrix can have several values, beside backends, nemeses and workloads. Cells that
// differ in it alone stand side by side.
type Axis struct {
	Flag   string // of lockcheck run, and the key that picks by it: "ttl"
	Plural string // the key of the matrix, and the flag of lockcheck compare: "ttls"
	// About is what it adds to the matrix, Picked what it picks, and Title the heading of the cells that stand side by side.
	About, Picked, Title string
	// Of are its values in a comparison, none if they are left to the flags, and In those that a pattern picks.
	Of func(*Spec) *[]string
	In func(*Pattern) *[]string

	value   func(*Cell) *string
	figures func(beside []Result) []figure
	note    string // explains the figures
	// order sorts values of which each replaces those before it, so that one can mend or break something; nil if none does.
	order func(a, b string) int
}

// Axes are all, in the order in which they name a cell. The last one changes fastest.
var Axes = []Axis{
	{
		Flag: "resource", Plural: "resources", Title: "Resources",
		About:  "What holders write to, each a cell of its own (default: one, from defaults, or that of the workload).",
		Picked: "These resources of the matrix, as they stand there (default: all).",
		Of:     func(s *Spec) *[]string { return &s.Resources }, In: func(p *Pattern) *[]string { return &p.Resources },
		value: func(c *Cell) *string { return &c.Resource }, figures: always(resourceFigures), note: resourcesNote,
	},
	{
		Flag: "ttl", Plural: "ttls", Title: "Leases",
		About:  "Times to live of a lease, each a cell of its own (default: one, from defaults).",
		Picked: "These leases of the matrix, as they stand there (default: all).",
		Of:     func(s *Spec) *[]string { return &s.TTLs }, In: func(p *Pattern) *[]string { return &p.TTLs },
		value: func(c *Cell) *string { return &c.TTL }, figures: always(leaseFigures), note: leasesNote,
	},
	{
		Flag: "server-version", Plural: "versions", Title: "Versions",
		About:  "Versions of the servers, each a cell of its own (default: one, from defaults, or the first that is found).",
		Picked: "These versions of the matrix, as they stand there (default: all).",
		Of:     func(s *Spec) *[]string { return &s.Versions }, In: func(p *Pattern) *[]string { return &p.Versions },
		value: func(c *Cell) *string { return &c.Version }, figures: versionFigures, note: versionsNote, order: versionOrder,
	},
}

// in are the cells of one cell under all values of the axis that the comparison has.
func (a Axis) in(s *Spec, cells []Cell) (all []Cell) {
	values := *a.Of(s)
	if len(values) == 0 {
		return cells
	}
	for _, cell := range cells {
		for _, value := range values {
			*a.value(&cell) = value
			all = append(all, cell)
		}
	}
	return all
}

// named are the values of a cell's axes, as they follow its workload's name; before is what stands before each.
func (c Cell) named(before string) string {
	var text strings.Builder
	for _, a := range Axes {
		if value := *a.value(&c); value != "" {
			text.WriteString(before + a.Flag + " " + value)
		}
	}
	return text.String()
}

// axes are the flags that a cell's axes set.
func (c Cell) axes() (flags []Flag) {
	for _, a := range Axes {
		if value := *a.value(&c); value != "" {
			flags = append(flags, Flag{a.Flag, value})
		}
	}
	return flags
}

// Complete gives a spec the axes that it lacks and the comparison has: they may have stood beside its file, in flags.
func (c *Comparison) Complete(spec *Spec) {
	for _, a := range Axes {
		if values := a.Of(spec); len(*values) == 0 {
			*values = a.of(c.Matrix)
		}
	}
}

// of are the axis' values in some cells, in their order; none if it is left to the flags.
func (a Axis) of(cells []Cell) (values []string) {
	for _, cell := range cells {
		if value := *a.value(&cell); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}
