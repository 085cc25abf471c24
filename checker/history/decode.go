package history

import "lockcheck/checker/history/flatjson"

// decoder reads the lines that Writer writes. It returns false on anything else, and leaves the judgement to
// encoding/json.
type decoder struct{ flatjson.Reader }

func (d *decoder) event(line []byte, e *Event) bool {
	return d.Object(line, func(field []byte) bool {
		switch string(field) {
		case "index":
			return d.Int(&e.Index)
		case "time_ns":
			return d.Int(&e.TimeNS)
		case "process":
			return d.Word(&e.Process)
		case "client":
			return d.Word(&e.Client)
		case "type":
			return d.Word((*string)(&e.Type))
		case "f":
			return d.Word((*string)(&e.F))
		case "op":
			return d.Int(&e.Op)
		case "key":
			return d.Word(&e.Key)
		case "hold":
			return d.Word(&e.Hold)
		case "session":
			return d.Word(&e.Session)
		case "token":
			return d.Word(&e.Token)
		case "value":
			return d.Word(&e.Value)
		case "base":
			return d.Word(&e.Base)
		case "seen_ns":
			return d.Int(&e.SeenNS)
		case "ttl_ns":
			return d.Int(&e.TTLNS)
		case "valid_ns":
			return d.Int(&e.ValidNS)
		case "held_ns":
			return d.Int(&e.HeldNS)
		case "owned":
			return d.MaybeBool(&e.Owned)
		case "removed":
			return d.Bool(&e.Removed)
		case "gave_back":
			return d.Bool(&e.GaveBack)
		case "attempts":
			return d.Int(&e.Attempts)
		case "queued_ns":
			return d.Int(&e.QueuedNS)
		case "try":
			return d.Bool(&e.Try)
		case "work_ns":
			return d.Int(&e.WorkNS)
		case "target":
			return d.Word(&e.Target)
		case "role":
			return d.Word(&e.Role)
		case "dur_ns":
			return d.Int(&e.DurNS)
		case "heal":
			return d.Bool(&e.Heal)
		case "from_ns":
			return d.Int(&e.FromNS)
		case "at_once":
			return d.Bool(&e.AtOnce)
		case "clock":
			return d.Word((*string)(&e.Clock))
		case "detail":
			return d.Text(&e.Detail)
		case "skew_ns":
			return d.Int(&e.SkewNS)
		case "lag_ns":
			return d.Int(&e.LagNS)
		case "code":
			return d.Word(&e.Code)
		case "error":
			return d.Text(&e.Error)
		}
		return false
	})
}

func (d *decoder) request(line []byte, q *Request) bool {
	return d.Object(line, func(field []byte) bool {
		switch string(field) {
		case "seq":
			return d.Int(&q.Seq)
		case "request":
			return d.Text(&q.Request)
		case "key":
			return d.Word(&q.Key)
		case "kind":
			return d.Word((*string)(&q.Kind))
		case "hold":
			return d.Word(&q.Hold)
		case "token":
			return d.Word(&q.Token)
		case "value":
			return d.Word(&q.Value)
		case "base":
			return d.Word(&q.Base)
		case "outcome":
			return d.Word((*string)(&q.Outcome))
		case "mark":
			return d.Word(&q.Mark)
		case "first":
			return d.Word(&q.First)
		case "time_ns":
			return d.Int(&q.TimeNS)
		}
		return false
	})
}
