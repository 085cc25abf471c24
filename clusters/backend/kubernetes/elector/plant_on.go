//go:build planted

package main

import "lockcheck/clusters/client/plant"

// Built with the tag "planted", every variant NAME also exists as NAME+PLANT, as the lock clients of lockcheck itself do
// (package plant).
func init() {
	for name, v := range variants {
		for _, p := range plant.Plants {
			factories[name+"+"+p.Name] = p.Wrap(v.newLocks)
		}
	}
}
