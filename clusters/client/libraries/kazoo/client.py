#!/usr/bin/python3
"""kazoo's Lock as a lock client: ephemeral sequential nodes on ZooKeeper, each of which waits for the one before it.

As kazoo's documentation asks, the states of the connection are listened to: SUSPENDED means that the lock is not to be
relied on for the moment, LOST that it is gone. Requests are repeated by the library without end, and it keeps their outcomes
to itself; Observed looks at them on their way.
"""

import os
import sys
import threading
import urllib.parse

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lockclient"))

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import CancelledError, KazooException, NoAuthError, NoNodeError, SessionExpiredError
from kazoo.protocol.states import KeeperState
from kazoo.recipe.lock import Lock
from kazoo.security import CREATOR_ALL_ACL
from kazoo.version import __version__

from lockclient import Definite, Grant, plain_access, serve

# Errors after which a node was certainly neither made nor removed by this request, and why. Every other error leaves it
# open: ConnectionLoss is what kazoo says of requests that it sent and of those that it did not; and
# ConnectionClosedError, too.
REFUSED = {
    NoNodeError: "no such node, or no parent: names are given once, so it never comes back",
    SessionExpiredError: "the leader checks the session before it makes a change; and kazoo's own saying so is of requests that it did not send",
    NoAuthError: "the leader checks before it makes a change",
}


class Observed:
    """The KazooClient that one Lock works with. What becomes of the lock's own requests is noted on their way."""

    def __init__(self, zk, making):
        self.zk, self.making = zk, making
        self.sent = None  # when the node was asked for
        self.node = None  # that may be there
        self.unanswered = False  # a node was asked for, or asked to be removed, and no answer came
        self.removed = None  # whether the last answered removal found the node

    def __getattr__(self, name):
        return getattr(self.zk, name)

    def create(self, path, *args, **kwargs):
        sent = self.making.asked()
        if not self.unanswered:  # else the first may be the one that is found
            self.sent = sent
        self.node = self._change(self.zk.create, path, *args, **kwargs)
        return self.node

    def get_children(self, path):
        self.making.asked()
        return self.zk.get_children(path)

    def get(self, path, watch):
        self.making.asked()
        found = self.zk.get(path, watch)
        self.making.queued()
        return found

    def delete(self, path):
        try:
            self._change(self.zk.delete, path)
            self.removed, self.node = True, None
        except NoNodeError:
            self.removed, self.node = False, None
            raise

    def _change(self, request, *args, **kwargs):
        try:
            return request(*args, **kwargs)
        except tuple(REFUSED):
            raise
        except BaseException:
            self.unanswered = True
            raise

    def nothing_left(self):
        return self.node is None and not self.unanswered


class Held(Grant):
    def __init__(self, owner, lock, observed, stat):
        self.owner, self.lock, self.observed, self.sent = owner, lock, observed, observed.sent
        self.session, self.token = f"{stat.ephemeralOwner:x}", str(stat.czxid)

    def doubt(self):
        return "the connection is suspended" if self.owner.suspended else ""

    def release(self):
        """kazoo repeats the removal until it is answered, and says the same whether the node was there or not."""
        self.observed.unanswered, self.observed.removed = False, None
        if not self.lock.release():
            raise Definite("refused", "the lock was released before: nothing was sent")
        if self.observed.unanswered and not self.observed.removed:
            return {}  # gone; perhaps by the removal whose answer was lost
        if self.observed.removed and self.session in self.owner.expired:
            return {}  # the server said before that the session is gone: what this removed proves nothing of it
        return {"owned": bool(self.observed.removed)}


class Kazoo:
    def __init__(self, client):
        self.client, self.zk, self.starting = client, None, threading.Lock()
        self.session, self.suspended, self.expired, self.closing = "", True, set(), False
        user, password = plain_access(client.init)
        # What it makes is for users that show the same password, as lockcheck does, which removes it.
        self.access = {"auth_data": [("digest", f"{user}:{password}")], "default_acl": CREATOR_ALL_ACL} if user else {}

    def connected(self):
        """The client object, as programs have it: one, which makes new sessions by itself."""
        with self.starting:
            if self.zk is None:
                zk = KazooClient(",".join(self.client.init["endpoints"]), timeout=self.client.init["ttl_ms"] / 1000, **self.access)
                zk.add_listener(lambda state: self.listen(zk, state))
                try:
                    zk.start()
                except zk.handler.timeout_exception as e:
                    raise Definite("refused", f"no server gave a session: {e}") from e
                self.zk = zk
            return self.zk

    def listen(self, zk, state):
        """kazoo calls it from the thread of the connection, so in order, and before it connects anew."""
        self.suspended = state != KazooState.CONNECTED
        if state == KazooState.CONNECTED:
            self.session = f"{zk.client_id[0]:x}"
        elif state == KazooState.LOST and self.session and not self.closing:
            if zk.client_state == KeeperState.EXPIRED_SESSION:
                self.expired.add(self.session)
                self.client.ended(self.session, "the server says that the session has expired")
            self.client.lost(self.session, "kazoo's state is LOST")

    def acquire(self, making):
        zk = self.connected()
        observed = Observed(zk, making)
        lock = Lock(observed, "/lockcheck/" + urllib.parse.quote(making.key), self.client.init["name"])
        making.when_cancelled(lock.cancel)
        try:
            if not lock.acquire(blocking=not making.trying):
                self.given_up(observed, "busy", "another has the lock")
        except CancelledError as e:
            self.given_up(observed, "cancelled", e)
        except KazooException as e:
            self.given_up(observed, "refused", f"{type(e).__name__}: {e}")
        stat = zk.retry(zk.exists, f"{lock.path}/{lock.node}")
        if stat is None:
            raise RuntimeError("kazoo says that it has the lock, and its node is gone: there is nothing to name the grant by")
        return Held(self, lock, observed, stat)

    def given_up(self, observed, code, why):
        """kazoo tries to remove the node, and does not say whether it could."""
        if observed.nothing_left():
            raise Definite(code, str(why))
        raise RuntimeError(f"{why}; the node may still be there")

    def close(self):
        self.closing = True
        if self.zk is not None:
            self.zk.stop()


def ready(_):
    return {
        "client": f"kazoo {__version__} Lock",
        "tokens": "ordered",  # the change that made the lock's node (czxid)
        "release": "checked",  # a node is deleted by its name, which has a UUID in it
    }


if __name__ == "__main__":
    serve(Kazoo, ready)
