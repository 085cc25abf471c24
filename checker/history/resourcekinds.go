package history

import "slices"

// Resource names what the protected resource does with the requests of holders.
type Resource string

// The resources.
const (
	ResourcePlain  Resource = "plain"
	ResourceFenced Resource = "fenced"
	ResourceCAS    Resource = "cas"
)

// Comparison is what of a request a resource compares before it takes it. Recordings are judged by this, not by the name of
// the resource.
type Comparison int

// What can be compared.
const (
	// CompareNothing takes every request.
	CompareNothing Comparison = iota
	// CompareTokens rejects a request whose token is lower than the highest that was served on the key.
	CompareTokens
	// CompareBases rejects a write unless the value that it was built on is the current one.
	CompareBases
	// CompareKeys answers a record of a slot that was recorded already as the first was, and does nothing (rule J12).
	CompareKeys
)

// OrdersWrites reports whether the comparison itself decides which writes have an effect, independent of who holds the lock.
func (c Comparison) OrdersWrites() bool { return c == CompareBases || c == CompareKeys }

// ResourceKind is one resource and how it is spoken of, everywhere: in the help, in stories, in the report.
type ResourceKind struct {
	Name     Resource
	Compares Comparison
	// About is what the resource does: "accepts every write".
	About string
	// RejectedOne and RejectedMany are what the writes are called that it rejects (a plain one has none; reports say so in the words
	// of fencing), Offered what of such a write was compared, and Had what with.
	RejectedOne, RejectedMany string
	Offered, Had              string
	// Means is by what it keeps late writes from the data: "fencing".
	Means string
	// UnderTest says that it is a database server behind lockcheck's own script, which is judged, too.
	UnderTest bool
}

// Resources is the table of resources.
var Resources = []ResourceKind{
	{
		Name: ResourcePlain, Compares: CompareNothing, About: "accepts every write",
		RejectedOne: "stale write", RejectedMany: "stale writes", Offered: "token", Had: "highest token seen",
	},
	{
		Name: ResourceFenced, Compares: CompareTokens, About: "rejects a request whose token is lower than the highest it has served on the key",
		RejectedOne: "stale write", RejectedMany: "stale writes", Offered: "token", Had: "highest token seen", Means: "fencing",
	},
	{
		Name: ResourceCAS, Compares: CompareBases, About: "rejects a write unless the value that it was built on is still the current one (compare-and-set)",
		RejectedOne: "write built on an old value", RejectedMany: "writes built on old values", Offered: "built on", Had: "the value was",
		Means: "compare-and-set",
	},
	databaseServer("etcd", "etcd as a fenced resource, with a transaction"),
	databaseServer("postgres", "PostgreSQL as a fenced resource, with a row lock"),
	databaseServer("redis", "Redis as a fenced resource, with a Lua script"),
}

// databaseServer is one that compares tokens as fenced does, and is under test.
func databaseServer(name Resource, about string) ResourceKind {
	return ResourceKind{Name: name, Compares: CompareTokens, About: about + ", under test",
		RejectedOne: "stale write", RejectedMany: "stale writes", Offered: "token", Had: "highest token seen", Means: "fencing", UnderTest: true}
}

// ResourceNamed finds a resource.
func ResourceNamed(name Resource) (kind ResourceKind, known bool) {
	if i := slices.IndexFunc(Resources, func(r ResourceKind) bool { return r.Name == name }); i >= 0 {
		return Resources[i], true
	}
	return ResourceKind{Name: name}, false
}

// ResourceNames lists the resources.
func ResourceNames() []string {
	names := make([]string, len(Resources))
	for i, r := range Resources {
		names[i] = string(r.Name)
	}
	return names
}

// ResourceKind is the resource of the run. One recorded before plans named it had what its workload implied.
func (p *Plan) ResourceKind() ResourceKind {
	if p.UnderTest != nil {
		return p.kindUnderTest()
	}
	name := p.Resource
	if name == "" {
		name = map[bool]Resource{true: ResourceFenced, false: ResourcePlain}[p.Fenced]
	}
	kind, _ := ResourceNamed(name)
	return kind
}

// Compares is what the resource had to compare in the run: a fenced one that was sent no tokens compared nothing, and one that has
// nothing else to compare may have had idempotency keys.
func (p *Plan) Compares() Comparison {
	compares := p.ComparesBesideKeys()
	if p.Keyed() && (compares == CompareNothing || compares == CompareTokens && p.Tokens == TokensNone) {
		return CompareKeys
	}
	return compares
}

// ComparesBesideKeys is what it had to compare of a request that no idempotency key had answered.
func (p *Plan) ComparesBesideKeys() Comparison {
	compares := p.ResourceKind().Compares
	if compares == CompareTokens && !p.Fenced {
		return CompareNothing
	}
	return compares
}

// Means is by what the resource of the run keeps late writes from the data: "fencing", "idempotency keys"; "" for nothing.
func (p *Plan) Means() string {
	switch means := p.ResourceKind().Means; {
	case p.Compares() == CompareKeys:
		return IdempotencyKeys
	case p.Keyed() && means != "":
		return IdempotencyKeys + " and " + means // a record of a slot that has one is answered before it is compared
	default:
		return means
	}
}

// validateResource refuses a plan whose resource and Fenced contradict each other.
func (p *Plan) validateResource() error {
	if p.UnderTest != nil {
		return p.validateUnderTest()
	}
	kind, known := ResourceNamed(p.Resource)
	switch {
	case p.Resource == "": // recorded before plans named it
		return nil
	case !known:
		return mistakef("the plan's resource is %q; known are %s", p.Resource, list(ResourceNames()))
	case p.Fenced && kind.Compares != CompareTokens:
		return mistakef("the plan says that the resource compares tokens (fenced), and that it is %s, which does not", p.Resource)
	}
	return nil
}
