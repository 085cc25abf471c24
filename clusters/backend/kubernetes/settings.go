package kubernetes

import (
	"maps"
	"slices"

	"lockcheck/clusters/backend/etcd/server"
	"lockcheck/clusters/setting"
)

// settings are flags of the API servers, with their own defaults. Those of the etcd members are set by their names, too.
var settings = setting.Table{
	{Name: "max-requests-inflight", Default: "400", About: "requests that read, at the same time, in an API server", Check: setting.Number(1, 100_000)},
	{Name: "max-mutating-requests-inflight", Default: "200", About: "requests that write, at the same time, in an API server", Check: setting.Number(1, 100_000)},
	{Name: "etcd-compaction-interval", Default: "5m0s", About: "between two compactions of etcd's history", Check: setting.Choice("0s", "1m0s", "5m0s")},
	{Name: "v", Default: "0", About: "how much the API servers log", Check: setting.Number(0, 10)},
}

// resolve completes what was asked for of the API servers; what was asked for of the members is left.
func resolve(asked map[string]string) (own, members map[string]string, err error) {
	own, members = map[string]string{}, maps.Clone(asked)
	if members == nil {
		members = map[string]string{}
	}
	for _, s := range settings {
		if value, ok := members[s.Name]; ok {
			own[s.Name] = value
			delete(members, s.Name)
		}
	}
	if _, err := slices.Concat(settings, server.Settings).Resolve(asked); err != nil {
		return nil, nil, err
	}
	own, err = settings.Resolve(own)
	return own, members, err
}

// flags are an API server's for these settings.
func flags(values map[string]string) (all []string) {
	for _, s := range settings {
		all = append(all, "--"+s.Name+"="+values[s.Name])
	}
	return all
}
