package config

import _ "embed"

// Example is a commented file to begin with.
//
//go:embed lockcheck.yaml
var Example string
