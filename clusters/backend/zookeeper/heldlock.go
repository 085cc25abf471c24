package zookeeper

import (
	"context"
	"strconv"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// held is a lock that was granted.
type held struct {
	conns *conns
	conn  *conn
	key   string
	place *place

	releasing chan struct{} // holds one token while a release is under way
	settled   bool          // its connection knows that it is over; for the one who releases
}

func (h *held) Session() string  { return h.place.era.name() }
func (h *held) Token() string    { return strconv.FormatInt(h.place.czxid, 10) }
func (h *held) Seen() int64      { return h.place.seen }
func (h *held) Valid() time.Time { return time.Time{} } // the recipe declares none

// Ask looks for the node: at the server that the client is connected to, which for history.AskLatest catches up with the leader first.
func (h *held) Ask(ctx context.Context, question history.Question) (bool, error) {
	c, back, err := h.conns.usable(ctx, h.conn, h.key)
	if err != nil {
		return false, err
	}
	defer back()
	if question == history.AskLatest {
		if _, err := c.Sync(h.place.path); err != nil {
			return false, err
		}
	}
	there, stat, err := c.Exists(h.place.path)
	return err == nil && there && stat.Czxid == h.place.czxid, err
}

// Release deletes the node, by its name, which no other node has: if it was there, it was this grant's.
func (h *held) Release(ctx context.Context) (*bool, error) {
	select {
	case h.releasing <- struct{}{}:
		defer func() { <-h.releasing }()
	case <-ctx.Done():
		return nil, client.Definite(history.CodeRefused, "an earlier release of this grant was still under way: %w", ctx.Err())
	}
	c, back, err := h.conns.usable(ctx, h.conn, h.key)
	if err != nil {
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	defer back()
	owned := h.place.era.owned()
	err = judge(c.Delete(h.place.path, -1))
	if !h.settled {
		h.settled = true
		h.conns.done(h.conn, h.key, isDefinite(err))
	}
	if err != nil {
		return nil, err
	}
	return owned, nil
}
