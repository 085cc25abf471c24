package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// bucketOf is the bucket's configuration: LimitMarkerTTL is what lets keys expire, and has watchers hear of it.
func bucketOf(name string, values map[string]string) jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{Bucket: name, Description: "locks of lockcheck", Replicas: copies(values), LimitMarkerTTL: time.Second}
}

// access are the options that let a connection in.
func access(of client.Access) ([]nats.Option, error) {
	config, err := of.Config()
	if err != nil {
		return nil, err
	}
	var options []nats.Option
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	if of.Username != "" {
		options = append(options, nats.UserInfo(of.Username, of.Password.Reveal()))
	}
	return options, nil
}

// dialing is a dialer as the library wants it.
type dialing struct {
	ctx  context.Context
	dial clusters.Dialer
}

func (d dialing) Dial(network, addr string) (net.Conn, error) { return d.dial(d.ctx, network, addr) }

// session is the harness's connection to one server, for one question.
type session struct {
	conn *nats.Conn
	jetstream.JetStream
}

// ask connects to one server and asks it: what one server says is what is to be known.
func ask(ctx context.Context, endpoint string, dial clusters.Dialer, options []nats.Option, question func(context.Context, session) error) error {
	timeout := time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(time.Until(deadline), time.Millisecond)
	}
	options = append([]nats.Option{
		nats.SetCustomDialer(dialing{ctx, dial}), nats.Timeout(timeout), nats.NoReconnect(), nats.IgnoreDiscoveredServers(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)
	conn, err := nats.Connect("nats://"+endpoint, options...)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if err := question(ctx, session{conn, js}); err != nil {
		return errors.Join(err, conn.LastError()) // a server says apart from the answer, which does not come, what a user may not do
	}
	return nil
}

// write makes a plain write past any lock.
func (s session) write(ctx context.Context, bucket, key, value string) error {
	_, err := s.PublishMsg(ctx, &nats.Msg{Subject: subject(bucket, key), Data: []byte(value)})
	return err
}

// read reads what was written last, "" if nothing is there.
func (s session) read(ctx context.Context, bucket, key string) (string, error) {
	found, err := last(ctx, s.conn, bucket, key)
	return string(found.Data), err
}

// tryTTL makes a key that expires, as lock clients do.
func (s session) tryTTL(ctx context.Context, bucket, key string, ttl time.Duration) error {
	kv, err := s.KeyValue(ctx, bucket)
	if err != nil {
		return err
	}
	revision, err := kv.Create(ctx, key, nil, jetstream.KeyTTL(ttl))
	if err != nil {
		return err
	}
	return kv.Delete(ctx, key, jetstream.LastRevision(revision))
}

// subject is where a key's values are published.
func subject(bucket, key string) string { return "$KV." + bucket + "." + key }

// message is the last of a key: a value, or a marker that it was removed. The zero message is none.
type message struct {
	Revision uint64 `json:"seq"`
	Data     []byte `json:"data"`
}

const codeNoMessage = 10037

// last asks the leader of the bucket's stream for a key's last message. The library's own Get asks any replica, which may be behind.
func last(ctx context.Context, conn *nats.Conn, bucket, key string) (found message, err error) {
	question, err := json.Marshal(map[string]string{"last_by_subj": subject(bucket, key)})
	if err != nil {
		return found, err
	}
	said, err := conn.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+bucket, question)
	if err != nil {
		return found, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message message             `json:"message"`
	}
	switch err := json.Unmarshal(said.Data, &answer); {
	case err != nil:
		return found, fmt.Errorf("not understood: %w", err)
	case answer.Error != nil && answer.Error.ErrorCode == codeNoMessage:
		return found, nil
	case answer.Error != nil:
		return found, answer.Error
	}
	return answer.Message, nil
}

// codeOf is the code of an error that a server answered, 0 for any other.
func codeOf(err error) jetstream.ErrorCode {
	var said *jetstream.APIError
	if !errors.As(err, &said) {
		return 0
	}
	return said.ErrorCode
}
