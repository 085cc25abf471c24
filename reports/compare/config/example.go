package config

import _ "embed"

// Example is a commented file to begin with.
//
//go:embed lockcheck.yaml
var Example string

// SchemaName is what the file's schema is called by default, and Modeline the comment with which YAML language servers find it.
const (
	SchemaName = "lockcheck.schema.json"
	Modeline   = "# yaml-language-server: $schema=" + SchemaName
)
