// Package record is the lock's record on one Redis service, as every Redis lock has it: a key that holds a random value of
// its owner and expires by itself. Each request is sent once, and its error says what it proves.
package record
