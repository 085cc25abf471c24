// Package server is one redis-server process: what it is started from, its settings, its files, the leases that it grants, and
// how the harness asks it. The backends redis and redlock are made of it.
package server
