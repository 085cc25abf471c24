package s3

import (
	"errors"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// outcome is what a store's answer proves about a write.
type outcome struct {
	code    string
	refused bool // it had no effect and never will have
	why     string
}

// The codes by which a store says that an object is not as the condition has it.
const (
	preconditionFailed = "PreconditionFailed"
	conditionConflict  = "ConditionalRequestConflict"
	noSuchKey          = "NoSuchKey"
	noSuchBucket       = "NoSuchBucket"
)

// outcomes is searched in order; what is not in it is unknown. The unknown ones that are in it are those which one might take for
// definite: the reason is there so that none is moved.
var outcomes = []outcome{
	{preconditionFailed, true, "the object is another than the condition names"},
	{conditionConflict, true, "another write of the object was under way"},
	{noSuchKey, true, "the condition names an object that is not there"},
	{noSuchBucket, true, "there is nothing to write to"},
	{"AccessDenied", true, "rights are looked at first"},
	{"InvalidAccessKeyId", true, "so are keys"},
	{"SignatureDoesNotMatch", true, "so are signatures"},
	{"RequestTimeTooSkewed", true, "so are their times"},

	{"InternalError", false, "may be said after the object was written"},
	{"ServiceUnavailable", false, "may be said by what stands before the store"},
	{"SlowDown", false, "the same"},
	{"RequestTimeout", false, "says when the store stopped to wait; not trusted to be before the write"},
}

// codeOf is the code that a store answered, "" for any other error.
func codeOf(err error) string {
	var said *failure
	if !errors.As(err, &said) {
		return ""
	}
	return said.Code
}

// judge makes a definite failure of an answer that the table says is one, and leaves any other error as it is.
func judge(err error) error {
	for _, o := range outcomes {
		if o.code == codeOf(err) && o.refused {
			return &client.Error{Code: history.CodeRefused, Err: err}
		}
	}
	return err
}

// isConflict reports whether a conditional write found another object than it expected, or none.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == preconditionFailed || code == conditionConflict || code == noSuchKey
}
