package checker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// defective stands for ErrDefect among the properties a mutant violates: the resource and the recording are lockcheck's
// own, so what can only come from a mistake of theirs is never a verdict.
const defective model.Name = "defect"

// Sets that come together.
var (
	service = []model.Name{model.LockLinearizability, model.EarlyExpiry}
	harm    = []model.Name{model.StaleWrite, model.LostUpdate, model.ResourceLinearizability}
)

func names(sets ...any) (all []model.Name) {
	for _, s := range sets {
		switch s := s.(type) {
		case model.Name:
			all = append(all, s)
		case []model.Name:
			all = append(all, s...)
		}
	}
	return all
}

// The worlds of mutants. Each is one in which a correct lock violates nothing, but where the first rows say so.
var (
	calm  = simulated.Options{Faults: simulated.Faults{}}
	kills = simulated.Options{Faults: simulated.Faults{Kill: true}}
	stops = simulated.Options{Faults: simulated.Faults{Pause: true}}
	cuts  = simulated.Options{Faults: simulated.Faults{Cut: true}}
	// crawls is one in which stopped clients' writes are late, and packets, too.
	crawls = simulated.Options{Faults: simulated.Faults{Pause: true, Slow: true}}
)

func on(service simulated.Service, o simulated.Options) simulated.Options {
	o.Service, o.Tokens, o.Guard, o.Clients, o.Keys, o.LoadNS = service, true, simulated.GuardBeforeWrite, 4, 1, 8e9
	return o
}

func fenced(o simulated.Options) simulated.Options {
	o.Fenced = true
	return o
}

func cas(o simulated.Options) simulated.Options {
	o.CAS, o.OneWrite = true, true
	return o
}

// jobs is a world whose clients run the slots of a schedule.
func jobs(execution history.Execution, o simulated.Options) simulated.Options {
	o.Jobs = execution
	return o
}

// tested is a world whose resource is under test, and not lockcheck's own.
func tested(o simulated.Options) simulated.Options {
	o.UnderTest = true
	return o
}

func keys(n int, o simulated.Options) simulated.Options {
	o.Keys = n
	return o
}

// careless is a world whose clients never look at their lock before they write.
func careless(o simulated.Options) simulated.Options {
	o.Guard = simulated.GuardNone
	return o
}

// mutants are worlds with one defect each, and exactly what is violated in them: never anything else, and all of it in
// some run. Masked overlaps of belief (J10) are no violation.
var mutants = []struct {
	defect simulated.Defect
	world  simulated.Options
	want   []model.Name
	why    string
}{
	{"", on(simulated.Queue, calm), nil, "a correct lock, undisturbed"},
	{"", on(simulated.Polling, calm), nil, "a correct lock, undisturbed"},
	{"", fenced(on(simulated.Queue, calm)), nil, "a correct lock, undisturbed"},
	{"", fenced(on(simulated.Polling, calm)), nil, "a correct lock, undisturbed"},
	{"", on(simulated.Queue, kills), nil, "the dead write nothing"},
	{"", on(simulated.Polling, kills), nil, "the dead write nothing"},
	{"", fenced(on(simulated.Queue, stops)), nil, "belief overlaps, and is masked"},
	{"", fenced(on(simulated.Polling, cuts)), nil, "late writes are rejected"},
	{"", on(simulated.Queue, stops), names(model.MutualExclusion, model.ResourceLinearizability),
		"a stopped client cannot be told; it looks before it writes, so no write of it is stale, but what it reads may be another's work half done"},
	{"", cas(on(simulated.Queue, calm)), nil, "a correct lock, undisturbed"},
	{"", cas(on(simulated.Polling, kills)), nil, "the dead write nothing"},
	{"", careless(cas(on(simulated.Queue, cuts))), nil, "late writes are rejected, or nothing was written in between"},
	{"", careless(cas(on(simulated.Polling, stops))), nil, "the same, and belief overlaps, which is masked"},
	{"", jobs(history.AtLeastOnce, on(simulated.Queue, calm)), nil, "a correct lock, undisturbed"},
	{"", jobs(history.AtMostOnce, on(simulated.Polling, kills)), nil, "the dead record nothing"},
	{"", fenced(jobs(history.AtLeastOnce, on(simulated.Polling, cuts))), nil, "late records are rejected"},
	{"", careless(cas(jobs(history.AtLeastOnce, on(simulated.Queue, cuts)))), nil, "the same"},
	{"", careless(jobs(history.Idempotent, on(simulated.Queue, cuts))), nil, "a late record is answered as the first of its slot, or is the first"},
	{"", careless(jobs(history.Idempotent, on(simulated.Polling, stops))), nil, "the same, and belief overlaps, which is masked"},
	{"", jobs(history.AtLeastOnce, on(simulated.Queue, cuts)), names(harm, model.DoubleExecution), "a record waits behind the cut, and lands when another has run the slot"},
	{"", on(simulated.Queue, cuts), harm, "a write waits behind the cut and lands after the next grant; belief ends in time by the client's own clock"},

	// The service.
	{simulated.DoubleGrant, on(simulated.Polling, calm), names(model.MutualExclusion, service, harm), "two work at once, and the first lost the lock while it was promised"},
	{simulated.DoubleGrant, fenced(on(simulated.Queue, calm)), service, "the fencing masks the rest"},
	{simulated.EarlyExpiry, fenced(on(simulated.Polling, calm)), service, "the lock went to the next while it was promised, and proven by an extension or a release in between"},
	{simulated.ExtensionNotApplied, fenced(on(simulated.Queue, calm)), service, "the acknowledgement is the promise that is broken"},
	{simulated.LeaseRevived, fenced(on(simulated.Queue, cuts)), service, "the revived lease is promised to one while the lock is another's"},
	{simulated.ReleaseByAnyone, fenced(on(simulated.Polling, stops)), service, "a client that comes back late frees the next holder's lock; the answer says that it was not the owner, so nothing proves which release it was"},
	{simulated.ReleaseNotDone, on(simulated.Polling, calm), names(model.LockLinearizability), "tries are refused although the release was acknowledged and no other client came after"},
	{simulated.ReleaseDenied, fenced(on(simulated.Polling, calm)), names(model.EarlyExpiry), "the answer says that a protected grant was gone"},
	{simulated.ReleaseInvented, fenced(on(simulated.Polling, stops)), names(model.LockLinearizability), "the answer proves a grant that had run out, while the lock was another's"},
	{simulated.NeverFree, on(simulated.Queue, kills), names(model.Liveness), "what the dead held stays taken"},
	{simulated.NeverFree, on(simulated.Polling, kills), names(model.Liveness), "what the dead held stays taken"},
	{simulated.GrantToTheDead, crowded(fenced(jobs(history.AtLeastOnce, on(simulated.Queue, cuts)))), names(model.Liveness, model.MissedExecution), "the lock is a dead waiter's, all others queue behind it, and the next slot is run by no client"},
	{simulated.ZombieWaiter, patient(fenced(on(simulated.Queue, cuts))), names(model.Liveness), "it waits for ever under a session that is gone"},
	{simulated.LostWakeUp, patient(fenced(on(simulated.Queue, cuts))), names(model.Liveness), "it waits for ever under a session that lives, and others behind it; once it is closed fresh sessions get the lock"},
	{simulated.NeverWoken, patient(fenced(on(simulated.Queue, calm))), names(model.Liveness), "its turn has come, and it waits for ever"},
	{simulated.WokenByReleases, patient(fenced(on(simulated.Queue, kills))), names(model.Liveness), "it waits for a release that its predecessor, which has died, cannot send"},
	{simulated.RecordLeft, two(fenced(on(simulated.Polling, calm))), names(model.LockLinearizability, model.Liveness), "nobody holds it, and tries, which are atomic here, are refused, although no other client waits that may have had it and be given up later"},
	{simulated.GrantToTheDead, patient(fenced(on(simulated.Queue, cuts))), names(model.LockLinearizability, model.Liveness), "granted under a session that the service had said is gone, and never free again if the client is gone, too"},
	{simulated.BusyWhenFree, on(simulated.Polling, calm), names(model.LockLinearizability), "tries are atomic here, so a refused one says that a client has the lock"},
	{simulated.TokenRepeated, fenced(on(simulated.Queue, calm)), names(model.TokenMonotonicity), "the resource believes the tokens, and rejects"},
	{simulated.TokenBack, on(simulated.Queue, calm), names(model.TokenMonotonicity), "tokens that go back prove no order, so no write is stale by them"},
	{simulated.TokenOfLease, fenced(on(simulated.Queue, calm)), names(model.TokenMonotonicity), "unique is not ordered"},
	{simulated.QueueJumped, on(simulated.Queue, calm), names(model.LockLinearizability, model.TokenMonotonicity), "the waiters overlap in time, so J2 sees no fall; by its token the lower one was granted first, and its own answers say that it had the lock after that: no order fits both, and where nothing else can have answered it is the tokens"},

	// The resource.
	{simulated.FenceIgnored, fenced(on(simulated.Queue, cuts)), harm, "as if it were plain"},
	{simulated.FenceOfWrites, fenced(on(simulated.Polling, cuts)), harm, "an older write slips in between the new holder's read and its first write"},
	{simulated.FenceAsText, fenced(on(simulated.Queue, calm)), names(defective), "the first token with one more digit is rejected"},
	{simulated.FreshRejected, fenced(on(simulated.Polling, calm)), names(defective), "no token was higher"},
	{simulated.UpdateDropped, fenced(on(simulated.Queue, calm)), names(model.LostUpdate, model.ResourceLinearizability), "the next holder finds, and builds on, the value before"},
	{simulated.OldRead, fenced(on(simulated.Polling, calm)), names(model.LostUpdate, model.ResourceLinearizability), "what is read, and built on, is not what was written last"},
	{simulated.WriteForgotten, on(simulated.Queue, calm), names(defective), "acknowledged, and not in the log"},
	{simulated.AppliedTwice, on(simulated.Polling, calm), names(defective), "a request id is handled once"},
	{simulated.BaseIgnored, careless(cas(on(simulated.Polling, stops))), names(model.MutualExclusion, model.LostUpdate, model.ResourceLinearizability), "as if it were plain"},
	{simulated.FreshRejected, cas(on(simulated.Polling, calm)), names(defective), "it was built on the value"},
	{simulated.RejectedStored, cas(on(simulated.Queue, cuts)), names(defective), "the client was told that it certainly did not happen, and the log says it did"},
	{simulated.RejectedStored, fenced(on(simulated.Queue, cuts)), names(defective), "the client was told that it certainly did not happen, and the log says it did"},
	{simulated.AppliedDenied, on(simulated.Queue, calm), names(defective), "the client was told that it certainly did not happen, and the log says it did"},

	{simulated.KeyIgnored, careless(jobs(history.Idempotent, on(simulated.Queue, cuts))), names(model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution), "as if it were plain"},
	{simulated.UpdateDropped, jobs(history.AtLeastOnce, on(simulated.Polling, calm)), names(model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution), "the next holder finds the slot before, and runs it again"},
	// A resource under test. A log that is wrong proves nothing else, but what clients read is still held against what they wrote.
	{"", tested(fenced(on(simulated.Queue, stops))), nil, "late writes are rejected, as they have to be"},
	{"", tested(fenced(on(simulated.Polling, cuts))), nil, "late writes are rejected, as they have to be"},
	{"", tested(cas(on(simulated.Queue, cuts))), nil, "late writes are rejected, or nothing was written in between"},
	{"", tested(on(simulated.Polling, kills)), nil, "it compares nothing, and nothing comes late"},
	{simulated.FenceIgnored, tested(fenced(on(simulated.Queue, cuts))), names(model.ResourceIntegrity, harm), "as if it were plain, which it says it is not"},
	{simulated.FenceOfWrites, tested(fenced(on(simulated.Polling, cuts))), names(model.ResourceIntegrity, harm), "an older write slips in after the new holder's read"},
	{simulated.OnlyWrites, careless(tested(fenced(on(simulated.Polling, cuts)))), names(model.ResourceIntegrity, harm), "the same, and late reads are served"},
	{simulated.FenceAsText, tested(fenced(on(simulated.Queue, calm))), names(model.ResourceIntegrity), "the first token with one more digit is rejected"},
	{simulated.EqualRejected, tested(fenced(on(simulated.Queue, calm))), names(model.ResourceIntegrity), "a holder's own second request is rejected"},
	{simulated.FreshRejected, tested(fenced(on(simulated.Polling, calm))), names(model.ResourceIntegrity), "no token was higher"},
	{simulated.CheckThenWrite, careless(tested(fenced(on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, harm), "a late write is compared with the mark of before"},
	{simulated.MarkForgotten, careless(tested(fenced(on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, harm), "what comes late after a restart is accepted"},
	{simulated.OneMark, keys(2, tested(fenced(on(simulated.Queue, calm)))), names(model.ResourceIntegrity), "a holder of one lock is rejected for a later one of another"},
	{simulated.WriteForgotten, tested(on(simulated.Queue, calm)), names(model.ResourceIntegrity), "acknowledged, and not in the log; what clients read fits what they wrote"},
	{simulated.AppliedTwice, tested(on(simulated.Polling, calm)), names(model.ResourceIntegrity, model.ResourceLinearizability), "a request id is handled once"},
	{simulated.UpdateDropped, tested(fenced(on(simulated.Queue, calm))), names(model.ResourceIntegrity, model.ResourceLinearizability), "reads do not find what the log says was written"},
	{simulated.OldRead, tested(fenced(on(simulated.Polling, calm))), names(model.ResourceIntegrity, model.ResourceLinearizability), "reads find what by the log was overwritten"},
	{simulated.BaseIgnored, careless(tested(cas(on(simulated.Polling, stops)))), names(model.MutualExclusion, model.ResourceIntegrity, model.LostUpdate, model.ResourceLinearizability), "as if it were plain, which it says it is not"},
	{simulated.FreshRejected, tested(cas(on(simulated.Polling, calm))), names(model.ResourceIntegrity), "it was built on the value"},
	{simulated.RejectedStored, tested(fenced(on(simulated.Queue, cuts))), names(model.ResourceIntegrity, model.ResourceLinearizability), "the client was told that it certainly did not happen, and the log says it did"},
	{simulated.AppliedDenied, tested(on(simulated.Queue, calm)), names(model.ResourceIntegrity, model.ResourceLinearizability), "the client was told that it certainly did not happen, and another found it"},
	{"", tested(careless(jobs(history.Idempotent, on(simulated.Queue, cuts)))), nil, "a late record is answered as the first of its slot, or is the first"},
	{"", fenced(tested(careless(jobs(history.Idempotent, on(simulated.Polling, stops))))), nil, "the same, or it is rejected; belief overlaps, which is masked"},
	{"", cas(tested(careless(jobs(history.Idempotent, on(simulated.Polling, cuts))))), nil, "the same"},
	{simulated.KeyIgnored, tested(careless(jobs(history.Idempotent, on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution), "as if it were plain, which it says it is not"},
	{simulated.KeysForgotten, tested(careless(jobs(history.Idempotent, on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution), "what comes late after a restart is applied"},
	{simulated.CheckThenKey, tested(careless(jobs(history.Idempotent, on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution), "a record that comes right after the first is applied"},
	{simulated.OneKeySpace, keys(2, tested(jobs(history.Idempotent, on(simulated.Queue, calm)))), names(model.ResourceIntegrity), "the first record of a slot of one register is taken for a duplicate of another's"},
	{"", long(fenced(tested(careless(jobs(history.Idempotent, on(simulated.Polling, crawls)))))), nil, "late records of slots that have none yet are rejected, and recorded by others"},
	{simulated.KeyUsedUp, long(fenced(tested(careless(jobs(history.Idempotent, on(simulated.Polling, crawls)))))), names(model.ResourceIntegrity), "the first record of a slot is taken for a duplicate of one that was rejected"},
	{simulated.AnsweredAsOwn, tested(careless(jobs(history.Idempotent, on(simulated.Queue, cuts)))), names(model.ResourceIntegrity, model.ResourceLinearizability), "the client is told that its record counts, and the log says another's does"},

	// The clients.
	{simulated.LossIgnored, on(simulated.Queue, cuts), names(model.MutualExclusion, harm), "belief goes on behind the cut; the harm is what a cut does anyway"},
	{simulated.ExpiryNotNoticed, on(simulated.Queue, cuts), names(model.MutualExclusion, harm), "belief goes on until the service can say no"},
	{simulated.GuardIgnored, on(simulated.Queue, stops), names(model.MutualExclusion, harm), "with the guard the same world has no harm"},
	{simulated.GrantUnasked, on(simulated.Queue, calm), names(model.MutualExclusion, service, model.TokenMonotonicity, harm), "to the outside it is a grant while another holds, under a token of old"},
	{simulated.UnlockByName, fenced(on(simulated.Polling, stops)), names(service, model.ReleaseByOwner), "it frees the next holder's lock and takes that for its own"},
	{simulated.WriteAfterRelease, on(simulated.Queue, calm), harm, "the next holder has read before the write lands"},
	{simulated.WriteAfterRelease, fenced(on(simulated.Queue, calm)), nil, "which is what fencing is for"},
}

// long is a world in which what is rare has the time to happen.
func long(o simulated.Options) simulated.Options {
	o.LoadNS = 40e9
	return o
}

// patient is a world whose faults are over long before its end, so that a client that waits for ever is seen to.
func patient(o simulated.Options) simulated.Options {
	o.LoadNS, o.CalmNS = 60e9, 50e9
	return o
}

// two is a world of two clients, in which there is often none that waits.
func two(o simulated.Options) simulated.Options {
	o.Clients = 2
	return o
}

// struck is a patient world in which faults have a minute to hit a holder.
func struck(o simulated.Options) simulated.Options {
	o.LoadNS, o.CalmNS = 110e9, 50e9
	return o
}

// crowded is a patient world in which there is always a client that waits, and few faults.
func crowded(o simulated.Options) simulated.Options {
	o.Clients = 8
	o = patient(o)
	o.CalmNS = 52e9
	return o
}

func TestMutantsAreFoundByTheirPropertiesAlone(t *testing.T) {
	if len(mutants) < 28 {
		t.Fatalf("only %d mutants", len(mutants))
	}
	for _, m := range mutants {
		name := fmt.Sprintf("%s, service %d, fenced %v", cmp.Or(m.defect, "no defect"), m.world.Service, m.world.Fenced)
		if m.world.CAS {
			name += ", cas"
		}
		if m.world.Jobs != "" {
			name += ", jobs " + string(m.world.Jobs)
		}
		if m.world.UnderTest {
			name += ", under test"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			union := map[model.Name]int{}
			missing := func() []model.Name {
				return slices.DeleteFunc(slices.Clone(m.want), func(n model.Name) bool { return union[n] > 0 })
			}
			const rare = 40 // runs in which what is rare is found, too
			innocent := min(testkit.Histories(t, rare), 1000)
			for seed := uint64(0); seed < uint64(innocent) || seed < rare && len(missing()) > 0; seed++ {
				o := m.world
				o.Seed, o.Defect = seed, m.defect
				got, err := violatedIn(t, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range got {
					union[n]++
					if !slices.Contains(m.want, n) {
						t.Fatalf("seed %d violates %s; declared are %s: %s", seed, n, joined(m.want), m.why)
					}
				}
			}
			for _, n := range missing() {
				t.Errorf("%s was never violated in %d runs, only %v: %s", n, max(innocent, rare), union, m.why)
			}
		})
	}
}

// violatedIn are the properties violated in one run.
func violatedIn(t *testing.T, o simulated.Options) (all []model.Name, err error) {
	run := simulated.Simulate(o)
	rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests })
	result, _, err := Check(rec, Options{MaxFindings: 1})
	if errors.Is(err, model.ErrCut) || errors.Is(err, model.ErrDefect) && !strings.Contains(err.Error(), "Porcupine") { // a log whose end is missing may have been cut
		return []model.Name{defective}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w", o.Seed, err)
	}
	for _, p := range result.Properties {
		if p.Verdict == model.Violation {
			all = append(all, p.Name)
		}
	}
	return all, nil
}

// A lock that hangs is found where it does: in the load, long before fresh sessions ask for it.
func TestLocksThatHangAreFoundInTheLoad(t *testing.T) {
	for defect, world := range map[simulated.Defect]simulated.Options{
		simulated.NeverWoken:      patient(on(simulated.Queue, calm)),
		simulated.WokenByReleases: struck(on(simulated.Queue, kills)),
		simulated.RecordLeft:      patient(on(simulated.Polling, calm)),
	} {
		t.Run(string(defect), func(t *testing.T) {
			t.Parallel()
			found, seeds := 0, min(testkit.Histories(t, 20), 200)
			for seed := range uint64(seeds) {
				o := world
				o.Seed, o.Defect = seed, defect
				run := simulated.Simulate(o)
				result, m, err := Check(recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests }), Options{Properties: []model.Name{model.Liveness}})
				if err != nil {
					t.Fatal(err)
				}
				hung := newJudgement(m, Options{}, nil).m.FreeWhileWanted().Hung[m.Locks[0]]
				if heal, _ := m.Phase(history.PhaseHeal); hung.Waiter != nil && hung.FromNS < heal && propertyOf(result, model.Liveness).Verdict == model.Violation {
					found++
				}
			}
			t.Logf("found in %d of %d", found, seeds)
			if found < seeds {
				t.Errorf("found in %d of %d", found, seeds)
			}
		})
	}
}
