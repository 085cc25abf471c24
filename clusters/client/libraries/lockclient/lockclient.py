"""The client's end of the client protocol (../../README.md), for lock clients in Python.

A lock client makes a Lock and calls serve. What the page asks of every client is done here: pings, the belief flags, the
guards, the work, the resource.
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import NamedTuple


class Definite(Exception):
    """The operation certainly did not happen, and never will: fail. Any other exception leaves that open: info."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Unknown(Exception):
    """The outcome of an acquire is unknown; if it was granted, then under this session."""

    def __init__(self, session, text):
        super().__init__(text)
        self.session = session


class Sending(NamedTuple):
    """A moment just before a request is sent."""

    seen: int  # the last ping read by then
    heard: float  # when that was read; both times are of time.monotonic
    at: float


def plain_access(init):
    """User name and password of a service that others run, both None if it asks for none. TLS is refused: this client has none."""
    options = init.get("options", {})
    if options.get("tls"):
        raise RuntimeError("this client speaks no TLS: leave ca, cert, key and server_name out of the attach-config, and name a port without it")
    return options.get("username"), options.get("password")


class Grant:
    """A lock that was granted."""

    session = ""  # whose end ends this grant
    token = ""  # decimal, if there is one
    sent = Sending(0, 0.0, 0.0)  # of the request that won
    valid_until = None  # by time.monotonic, if the library declares how long a grant is valid

    def doubt(self):
        """Why the library's user is not to rely on the lock just now, "" if nothing speaks against it."""
        over = self.valid_until is not None and time.monotonic() >= self.valid_until
        return "the declared validity is over" if over else ""

    def ask(self):
        """Reports whether the service has this grant's own record, by a call that the library offers. Any exception: it is not known."""
        raise NotImplementedError

    def release(self):
        """Gives the lock back, and returns what the answer says: {"owned": True}, for example."""
        raise NotImplementedError


class Acquire:
    """An acquire that is under way."""

    def __init__(self, client, command):
        self.key, self.trying, self.attempts, self.cancelled = command["key"], command.get("try", False), 0, False
        self._client, self._op, self._queued, self._on_cancel = client, command["op"], command.get("try", False), None

    def asked(self):
        """Counts a request for the lock; called just before it is sent."""
        self.attempts += 1
        return self._client.sending()

    def queued(self):
        """The lock is another's, and this acquire waits for it."""
        if not self._queued:
            self._queued = True
            self._client.say(msg="stage", op=self._op, stage="queued")

    def when_cancelled(self, call):
        """Has call called when the acquire is given up, at once if it was already."""
        self._on_cancel = call
        if self.cancelled:
            call()

    def cancel(self):
        self.cancelled = True
        if self._on_cancel:
            self._on_cancel()


class Client:
    """What the harness sees of a lock client."""

    def __init__(self):
        self._speak = threading.RLock()  # guards the output and the flags
        self._out = os.dup(1)
        os.dup2(2, 1)  # what a library prints goes to the log: standard output is the protocol's alone
        self._flags, self._lost, self._grants, self._acquires = {}, set(), {}, {}
        self._heard = (0, time.monotonic())
        self._http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._lock, self.init = None, {}

    def say(self, **report):
        with self._speak:
            os.write(self._out, (json.dumps(report) + "\n").encode())

    def sending(self):
        return Sending(*self._heard, time.monotonic())

    def lease(self, session, sent, ttl_ms):
        """The server acknowledged a request, sent at that moment, that set or extended a lease."""
        self.say(msg="lease", session=session, seen=sent.seen, ttl_ms=ttl_ms)

    def ended(self, session, why):
        """The server said that the session is gone."""
        self.say(msg="ended", session=session, error=why)

    def lost(self, session, why):
        """The library told its user that the session, and with it all its grants, is gone."""
        with self._speak:
            self.say(msg="lost", session=session, error=why)
            self._lost.add(session)  # only now, after it was printed
            for hold in [h for h, s in self._flags.items() if s == session]:
                del self._flags[hold]

    def acquire(self, c):
        making = self._acquires[c["op"]]
        try:
            grant = self._grants[c["hold"]] = self._lock.acquire(making)
        finally:
            self._acquires.pop(c["op"])
        answer = {"session": grant.session, "token": grant.token, "seen": grant.sent.seen, "attempts": making.attempts}
        if grant.valid_until is not None:
            answer["valid_ms"] = max(0, int((grant.valid_until - grant.sent.heard) * 1000))
        with self._speak:
            if grant.session not in self._lost:
                self._flags[c["hold"]] = grant.session
            self.say(msg="ok", op=c["op"], **answer)

    def read(self, c):
        seen, answer = self.sending().seen, self._post("/read", c)
        with self._speak:
            self.say(msg="ok", op=c["op"], seen=seen, value=answer.get("value", ""), held=c["hold"] in self._flags)

    def write(self, c):
        if c["guard"] != "none":
            self._look(c["hold"])
        self.say(msg="stage", op=c["op"], stage="working")
        time.sleep(c.get("work_ms", 0) / 1000)
        self.say(msg="stage", op=c["op"], stage="worked")
        if c["guard"] == "before-write":
            self._look(c["hold"])
        elif c["guard"] == "ask":
            self._ask(c["hold"])
        key = {"idempotency_key": c["idempotency_key"]} if "idempotency_key" in c else {}
        seen, answer = self.sending().seen, self._post("/write", c, value=c["value"], base=c.get("base", ""), **key)
        found = {"value": answer.get("value", "")} if key else {}  # another's, if its record came first
        with self._speak:
            self.say(msg="ok", op=c["op"], seen=seen, held=c["hold"] in self._flags, **found)

    def release(self, c):
        with self._speak:
            self._flags.pop(c["hold"], None)  # before it is sent
        seen = self.sending().seen
        try:
            answer = self._grants[c["hold"]].release()
        except Definite:
            self._grants.pop(c["hold"])
            raise
        self._grants.pop(c["hold"])  # after an unknown outcome it may be released again
        self.say(msg="ok", op=c["op"], seen=seen, **answer)

    def _look(self, hold):
        with self._speak:
            why = self._grants[hold].doubt() if hold in self._flags else "the lock was lost"
        if why:
            raise Definite("guard", why)

    def _ask(self, hold):
        try:
            held = self._grants[hold].ask()
        except Exception as e:
            raise Definite("unanswered", f"the service did not say whether the lock is held: {type(e).__name__}: {e}") from e
        if not held:
            raise Definite("guard", "the service says that the lock is not this grant's any more")

    def _post(self, path, c, **more):
        body = {"request": str(c["op"]), "hold": c["hold"], "token": self._grants[c["hold"]].token, "key": c["key"], **more}
        request = urllib.request.Request(self.init["resource"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            return json.load(self._http.open(request))
        except urllib.error.HTTPError as e:
            if e.code >= 500:
                raise
            raise Definite("rejected" if e.code == 409 else "refused", e.read().decode()) from e
        except urllib.error.URLError as e:
            if isinstance(e.reason, ConnectionRefusedError):
                raise Definite("refused", str(e)) from e
            raise

    def run(self, operation, c):
        making = self._acquires.get(c["op"])
        try:
            if operation != self.acquire and c["hold"] not in self._grants:
                raise Definite("refused", "no such hold")
            operation(c)
        except Exception as e:
            answer = {"msg": "fail", "code": e.code} if isinstance(e, Definite) else {"msg": "info"}
            answer |= {"session": e.session} if isinstance(e, Unknown) else {}
            answer |= {"attempts": making.attempts} if making else {}
            with self._speak:
                self.say(op=c["op"], error=f"{type(e).__name__}: {e}", held=c["hold"] in self._flags, **answer)

    def close(self):
        """Gives everything back, as far as that is done within a second and a half: the harness allows 2 s."""
        with self._speak:
            held, self._flags = list(self._grants.values()), {}
        threads = [threading.Thread(target=g.release, daemon=True) for g in held]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 0.7
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if self._lock:
            last = threading.Thread(target=self._lock.close, daemon=True)
            last.start()
            last.join(0.8)
        os._exit(0)

    def serve(self, make, ready):
        boot_id = open("/proc/sys/kernel/random/boot_id").read().strip()
        operations = {f.__name__: f for f in (self.acquire, self.read, self.write, self.release)}
        for line in sys.stdin:
            c = json.loads(line)
            if c["cmd"] == "ping":
                self._heard = (c["n"], time.monotonic())
                with self._speak:
                    self.say(msg="pong", n=c["n"], holds=sorted(self._flags))
            elif c["cmd"] == "init":
                self.init = c["init"]
                self._lock = make(self)
                said = ready(self.init)
                commands = ["ping", "cancel", "close", "idempotency-key", *operations, *said.pop("asks", [])]
                self.say(msg="ready", ready={"protocol": 1, "boot_id": boot_id, "commands": commands, **said})
            elif c["cmd"] == "cancel":
                if making := self._acquires.get(c["op"]):
                    making.cancel()
            elif c["cmd"] == "close":
                break
            elif operation := operations.get(c["cmd"]):
                if operation == self.acquire:
                    self._acquires[c["op"]] = Acquire(self, c)
                threading.Thread(target=self.run, args=(operation, c), daemon=True).start()
        self.close()


def serve(make, ready):
    """Serves until the harness closes the client. make(client) makes the lock: acquire(Acquire) returns a Grant, close()
    gives the session back. ready(init) returns what the lock declares of itself; "asks": ["ask"] if its grants can ask the service."""
    Client().serve(make, ready)
