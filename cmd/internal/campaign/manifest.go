package campaign

import "strconv"

// What the objects of a campaign are known by.
const (
	labelCampaign    = "lockcheck/campaign"    // the Job's name, on all that it has
	noteDigest       = "lockcheck/plan-digest" // of the plan
	noteCommand      = "lockcheck/command"     // of lockcheck, whose work the shards are
	noteUnprivileged = "lockcheck/unprivileged"
	jobLabel         = "batch.kubernetes.io/job-name"
	indexNote        = "batch.kubernetes.io/job-completion-index"

	planKey = "plan.json.gz" // in the ConfigMap
	planDir = "/plan"
	workDir = "/lockcheck"
	port    = 8741 // of the results

	failuresNote = "batch.kubernetes.io/job-index-failure-count"

	envToken, envKeep, envFailures = "LOCKCHECK_SHARD_TOKEN", "LOCKCHECK_SHARD_KEEP", "LOCKCHECK_SHARD_FAILURES"
)

const (
	keptAfter   = 3600          // seconds for which an ended Job stays, with its ConfigMap and pods
	livesAtMost = 7 * 24 * 3600 // seconds after which a Job ends that is not come back to
	retries     = 8             // of one index, whatever ended its pod: it was killed, evicted, or its node is gone
)

// object is anything that is sent as JSON.
type object = map[string]any

// capabilities are what the namespaces of a run take. The kernel lets no process without SETFCAP map user id 0 into the namespace in which
// PostgreSQL runs, and clocks are changed by SYS_PTRACE. README.md says which were tried.
var capabilities = []string{"SYS_ADMIN", "NET_ADMIN", "SETFCAP", "SYS_PTRACE"}

// configMap has the plan of all shards. It belongs to the Job, and goes with it.
func (c *Campaign) configMap(job jobObject, plan []byte) object {
	return object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": object{
			"name": c.Name, "labels": object{labelCampaign: c.Name},
			"ownerReferences": []object{{"apiVersion": "batch/v1", "kind": "Job", "name": c.Name, "uid": job.Metadata.UID}},
		},
		"binaryData": object{planKey: plan},
		"immutable":  true,
	}
}

// job is the Indexed Job: index i is shard i+1. A pod that ends before its results were fetched is run again, whatever ended it. One that is
// being deleted counts as ended: a node that is gone never says that its pods are, and with them the Job would wait for ever. A
// podFailurePolicy, by which disruptions would not count against the index, does not allow that.
func (c *Campaign) job(o Options) object {
	spec := object{
		"completionMode": "Indexed", "completions": c.Shards, "parallelism": min(o.Parallel, c.Shards),
		"backoffLimitPerIndex": retries, "ttlSecondsAfterFinished": keptAfter, "activeDeadlineSeconds": livesAtMost,
		"podReplacementPolicy": "TerminatingOrFailed",
		"template": object{
			"metadata": object{"labels": object{labelCampaign: c.Name}},
			"spec":     c.pod(o),
		},
	}
	notes := object{noteDigest: c.Digest, noteCommand: c.Command}
	if !c.Privileged {
		notes[noteUnprivileged] = "true"
	}
	return object{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": object{"name": c.Name, "labels": object{labelCampaign: c.Name}, "annotations": notes},
		"spec":     spec,
	}
}

func (c *Campaign) pod(o Options) object {
	resources := object{"cpu": o.CPU, "memory": o.Memory}
	keep := "failed"
	if o.KeepAll {
		keep = "all"
	}
	return object{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
		"shareProcessNamespace":         true, // so that the sandbox waits for processes that lost their parent
		"terminationGracePeriodSeconds": 30,
		"securityContext":               c.podSecurity(),
		"containers": []object{{
			"name": "lockcheck", "image": o.Image, "imagePullPolicy": "IfNotPresent", "workingDir": workDir,
			"command": []string{"lockcheck", ShardCommand, c.Command, strconv.Itoa(c.Shards)},
			"env": []object{
				{"name": envToken, "value": c.Token}, {"name": envKeep, "value": keep}, {"name": "HOME", "value": workDir},
				{"name": "TMPDIR", "value": workDir},
				{"name": envFailures, "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.annotations['" + failuresNote + "']"}}},
			},
			"ports":                    []object{{"containerPort": port, "name": "results"}},
			"readinessProbe":           object{"httpGet": object{"path": "/ready", "port": port}, "periodSeconds": 2, "timeoutSeconds": 5, "failureThreshold": 1},
			"resources":                object{"requests": resources, "limits": resources},
			"securityContext":          c.containerSecurity(),
			"terminationMessagePolicy": "FallbackToLogsOnError",
			"volumeMounts":             []object{{"name": "plan", "mountPath": planDir, "readOnly": true}, {"name": "work", "mountPath": workDir}},
		}},
		"volumes": []object{
			{"name": "plan", "configMap": object{"name": c.Name}},
			{"name": "work", "emptyDir": object{}},
		},
	}
}

func (c *Campaign) podSecurity() object {
	profile := object{"seccompProfile": object{"type": "RuntimeDefault"}}
	if !c.Privileged {
		profile["runAsNonRoot"], profile["runAsUser"], profile["runAsGroup"], profile["fsGroup"] = true, 65532, 65532, 65532
	}
	return profile
}

func (c *Campaign) containerSecurity() object {
	may := object{"drop": []string{"ALL"}}
	if c.Privileged {
		may["add"] = capabilities
	}
	return object{"allowPrivilegeEscalation": c.Privileged, "privileged": false, "capabilities": may}
}
