#!/usr/bin/python3
"""redis-py's Lock as a lock client: SET NX PX with a random value, asked for again every 0.1 s, compared and deleted in a
script. It is not renewed, and no caller is notified when its time is over.

Its README's way is followed, with the two settings that a careful user adds: a timeout for each request, because without one
a request waits for ever behind a partition, and thread_local=False, because another thread releases.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lockclient"))

import redis
from redis.exceptions import (AuthenticationError, BusyLoadingError, ConnectionError, LockError, LockNotOwnedError,
                              NoPermissionError, ReadOnlyError, RedisError, ResponseError)
from redis.lock import Lock
from redis.sentinel import Sentinel, SentinelManagedConnection

from lockclient import Definite, Grant, Unknown, plain_access, serve


class NotSent(ConnectionError):
    """There was no connection to send the request on."""


# Errors after which a request certainly had no effect and never will, and why. That holds for the scripts, too: each
# changes something in one step at most. Every other error leaves it open: a timeout or a connection that ended says when
# the client stopped waiting, and nothing about the server. redis-py sends each request once unless it is told otherwise
# (retry, retry_on_error, retry_on_timeout), so the last error is the only one.
REFUSED = {
    NotSent: "connecting failed, so nothing was sent",
    BusyLoadingError: "a server that reads its data refuses before it runs a command",
    ReadOnlyError: "a replica refuses to write",
    AuthenticationError: "refused before it runs",
    NoPermissionError: "refused before it runs",
}
REFUSED_REPLIES = {  # of those that redis-py has no class for
    "MASTERDOWN ": "a replica without its primary refuses before it runs a command",
    "NOREPLICAS ": "too few replicas are in touch: refused before it runs",
    "MISCONF ": "a server that cannot save refuses to write",
    "OOM ": "a server that is full refuses to write",
    "BUSY ": "a server that runs a slow script refuses everything else",
}


def refused(error):
    """Why a request certainly had no effect, None if that is not certain."""
    if type(error) is ConnectionError and isinstance(error.__context__, ReadOnlyError):
        error = error.__context__  # what a connection by Sentinel makes of it
    for kind, why in REFUSED.items():
        if isinstance(error, kind):
            return why
    if isinstance(error, ResponseError):
        return next((why for reply, why in REFUSED_REPLIES.items() if str(error).startswith(reply)), None)
    return None


class Connecting:
    """Marks the errors of connecting: after any of them, the request was not sent."""

    def connect(self):
        try:
            super().connect()
        except RedisError as e:
            raise NotSent(f"{type(e).__name__}: {e}") from e


class Direct(Connecting, redis.Connection):
    pass


class BySentinel(Connecting, SentinelManagedConnection):
    pass


class Attempts(Lock):
    """The library's lock, each of whose attempts is seen."""

    def do_acquire(self, token):
        if self.making.cancelled:  # all attempts before were answered with no
            raise Definite("cancelled", "given up between two attempts")
        self.session, self.sent = token.decode(), self.making.asked()
        granted = super().do_acquire(token)
        if not granted:
            self.making.queued()
        return granted


class Held(Grant):
    def __init__(self, lock, alone):
        self.lock, self.alone, self.session, self.sent = lock, alone, lock.session, lock.sent
        self.valid_until = lock.sent.at + lock.timeout  # which the library's user has asked for

    def ask(self):
        return self.lock.owned()  # which reads the record, at the server that redis-py knows as the primary

    def release(self):
        try:
            self.lock.release()
        except LockNotOwnedError as e:
            if self.alone:
                raise Definite("not-owned", str(e)) from e
            # The script reads before it writes, and a former primary lets it: it is no proof of what the service has.
            raise Definite("refused", f"{e}, says a server that may be no primary any more: nothing was removed") from e
        except LockError as e:
            raise Definite("refused", f"{e}: nothing was sent") from e
        except RedisError as e:
            raise judged(e) from e
        return {"owned": True}


def judged(error, session=""):
    why = refused(error)
    if why:
        return Definite("refused", f"{type(error).__name__}: {error} ({why})")
    return Unknown(session, f"{type(error).__name__}: {error}")


class RedisPy:
    def __init__(self, client):
        self.client, self.ttl = client, client.init["ttl_ms"] / 1000
        options, timeout = client.init.get("options", {}), min(self.ttl / 2, 1.0)
        timeouts = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
        self.alone = "sentinels" not in options
        if self.alone:
            host, port = client.init["endpoints"][0].rsplit(":", 1)
            user, password = plain_access(client.init)
            self.redis = redis.Redis(connection_pool=redis.ConnectionPool(
                connection_class=Direct, host=host, port=int(port), username=user, password=password, **timeouts))
        else:
            sentinels = [(host, int(port)) for host, port in (s.rsplit(":", 1) for s in options["sentinels"].split(","))]
            self.redis = Sentinel(sentinels, **timeouts).master_for(options["master"], connection_class=BySentinel)

    def acquire(self, making):
        lock = self.redis.lock("lockcheck:" + making.key, timeout=self.ttl, lock_class=Attempts, thread_local=False)
        lock.making = making
        try:
            if not lock.acquire(blocking=not making.trying):
                raise Definite("busy", "another has the lock")
        except RedisError as e:
            raise judged(e, lock.session) from e
        self.client.lease(lock.session, lock.sent, int(lock.timeout * 1000))
        return Held(lock, self.alone)

    def close(self):
        self.redis.connection_pool.disconnect()


def ready(init):
    alone = "sentinels" not in init.get("options", {})
    return {
        "client": f"redis-py {redis.__version__} Lock",
        "tokens": "none",
        "reason": "the lock's value is random: nothing in it grows with each grant",
        "asks": ["ask"],
        "release": "checked",  # a script compares the value and deletes
        # One server decides at once. What Sentinels name may be a former primary, with a record that is another's past.
        **({"try": "atomic"} if alone else {}),
    }


if __name__ == "__main__":
    serve(RedisPy, ready)
