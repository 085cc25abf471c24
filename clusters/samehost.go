package clusters

// Accompanied is a node on whose host other servers run, too. They share its power and its disks.
type Accompanied interface {
	Beside() []*Server
}

// Beside are the other servers on a node's host.
func Beside(n Node) []*Server {
	if n, ok := n.(Accompanied); ok {
		return n.Beside()
	}
	return nil
}
