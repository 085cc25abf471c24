package nemesis

// A loss drops a share of the packets, at random.
var _ = does("loss", dropping(func(a *act) float64 { return a.Share }))
