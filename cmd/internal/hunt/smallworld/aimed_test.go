package smallworld

import "testing"

// aimed are plans of somebody who knows the defect: none has more than three steps.
var aimed = map[Defect]string{
	OldLeaderRenews:      "partition:leader-servers@work,3ttl",
	LeasesOfTheOpening:   "failover@work",
	ForgetsQueue:         "failover@queue",
	AnswersBeforeCommit:  "partition:leader-servers@acquire,2.5ttl",
	TransfersBlindly:     "delay:follower-leader,0.8ttl;failover@work,0.5ttl",
	FirstServerLeads:     "partition:leader-servers@acquire,2.5ttl",
	CountsTheReachable:   "partition:leader-servers@acquire,2.5ttl",
	AnswersBeforeSync:    "power:all@work",
	TokensFromSnapshot:   "kill:follower,at-once,0.1ttl;failover@acquire,1ttl",
	LeasesByWallClock:    "clock:leader+3ttl@acquire,1ttl",
	LeaseEndsByWallClock: "clock:follower+3ttl;failover@acquire,1ttl",
	ReleasesByNameAgain:  "partition:holder-servers@release,in,0.5ttl",
	CancelOnce:           "partition:waiter-servers@queue,out,0.5ttl",
	WakeUpLost:           "partition:waiter-servers@release,in,0.3ttl",
	CommitsWithTwo:       "partition:node(1,2)@acquire,2.5ttl",
	CountsAcksTwice:      "partition:node(1,2)@acquire;delay:node(1),150ms,2.5ttl",
	QuorumOfTwo:          "partition:client-node(1,2,3)@acquire,1ttl",
	ExtendsWithOne:       "partition:holder-majority@work,2.5ttl",
	RecordsInMemory:      "kill:majority@work,at-once,0.2ttl",
	RecordsByWallClock:   "clock:majority+2ttl@work,1ttl",
	CleansUpByName:       "pause:minority,0.5ttl",
	TokenDrawnApart:      "pause:node(1)@release,1.8ttl",
	ReleasesInTwoSteps:   "pause:client@removing,2ttl",
	RenewsAfterExpiry:    "pause:holder@work,1.5ttl",
	ReleasesByName:       "pause:holder@work,1.5ttl",
	ExpiresInTwoSteps:    "kill:client@expiring",
	RecordsNotSynced:     "power:one@work",
	LoadsByWallClock:     "clock:one+2ttl@work;kill:one,at-once,0.5ttl",
}

// Each defect is real: somebody who knows it finds it.
func TestAimedPlansFindTheirDefects(t *testing.T) {
	const seeds = 12
	for _, l := range Bugs() {
		found := 0
		for seed := int64(1); seed <= seeds; seed++ {
			run, err := Play(l, aimed[l.Defect], seed)
			if err != nil {
				t.Fatal(err)
			}
			if len(brokenPromises(t, run)) > 0 {
				found++
			}
		}
		t.Logf("%s: %s: found in %d of %d runs", l.Name, l.Defect, found, seeds)
		if found == 0 {
			t.Errorf("%s: %s is not found by %s", l.Name, l.Defect, aimed[l.Defect])
		}
	}
}
