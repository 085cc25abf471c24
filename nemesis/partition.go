package nemesis

import "lockcheck/checker/history"

// A partition drops the packets between sets of hosts.
var _ = does(history.PartitionFault, dropping(func(*act) float64 { return 1 }))
