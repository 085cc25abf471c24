package client

import "lockcheck/checker/history"

// What a lock client in Go says in Ready, so that its author needs no other package.
const (
	TokensOrdered    = string(history.TokensOrdered)    // each grant's token is greater than all before it
	TokensNone       = string(history.TokensNone)       // grants have none; Ready.TokensReason says why
	ReleaseChecked   = string(history.ReleaseChecked)   // a release looks and deletes in one step
	ReleaseUnchecked = string(history.ReleaseUnchecked) // a release may delete another's record
)

// Codes of Definite.
const (
	CodeNotOwned  = history.CodeNotOwned  // the service no longer held this grant
	CodeBusy      = history.CodeBusy      // a try found the lock held
	CodeCancelled = history.CodeCancelled // given up, and nothing of the request is left at the service
	CodeRefused   = history.CodeRefused   // never sent, or refused by the service before it could have had an effect
)
