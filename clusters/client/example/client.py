import json, os, queue, socket, sys, threading, time, urllib.error, urllib.request

speak = threading.RLock()  # guards the output and the flags (rule 3)
flags, lost, grants = {}, set(), {}  # flags: hold -> session
waiting, cancelled = {}, set()  # acquires
init, ping = {}, 0
http = urllib.request.build_opener(urllib.request.ProxyHandler({}))

class Definite(Exception):  # certainly did not happen and never will; any other exception means: unknown
    def __init__(self, code, text): super().__init__(text); self.code = code

def say(**report):
    with speak: os.write(1, (json.dumps(report) + "\n").encode())

class Grant:
    def __init__(self, command):
        host, port = init["endpoints"][0].rsplit(":", 1)
        try: self.wire = socket.create_connection((host, int(port)))
        except OSError as e: raise Definite("refused", f"connecting: {e}")
        self.session, self.over, self.answers = str(self.wire.getsockname()[1]), False, queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.seen = ping  # before it is sent (rule 5)
        self.send("acquire " + command["key"])
        waiting[command["op"]] = self
        if command["op"] in cancelled: self.send("cancel")  # it came before there was anything to cancel
        word, _, self.token = self.receive().partition(" ")
        if word == "cancelled": raise Definite("cancelled", "given up, and the server has removed the request")
    def send(self, line): self.wire.sendall((line + "\n").encode())
    def receive(self):
        answer = self.answers.get()
        if not answer: raise OSError("the connection ended")
        return answer
    def listen(self):
        try:
            for line in self.wire.makefile(): self.answers.put(line.strip())
        except OSError: pass
        with speak:
            if not self.over: say(msg="lost", session=self.session, error="the connection ended")
            lost.add(self.session)  # only now, after it was printed
            for hold in [h for h, s in flags.items() if s == self.session]: del flags[hold]
        self.answers.put("")

def post(path, c, **more):
    body = {"request": str(c["op"]), "hold": c["hold"], "token": grants[c["hold"]].token, "key": c["key"], **more}
    request = urllib.request.Request(init["resource"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try: return json.load(http.open(request))
    except urllib.error.HTTPError as e:
        if e.code >= 500: raise
        raise Definite("rejected" if e.code == 409 else "refused", e.read().decode())
    except urllib.error.URLError as e:
        if isinstance(e.reason, ConnectionRefusedError): raise Definite("refused", str(e))
        raise

def look(c):  # this lock has no lease and declares no validity: there is only the flag
    with speak:
        if c["hold"] not in flags: raise Definite("guard", "the lock was lost")

def acquire(c):
    try: grant = grants[c["hold"]] = Grant(c)
    finally: waiting.pop(c["op"], None)
    with speak:
        if grant.session not in lost: flags[c["hold"]] = grant.session
        say(msg="ok", op=c["op"], session=grant.session, token=grant.token, seen=grant.seen)

def read(c):
    seen, answer = ping, post("/read", c)
    with speak: say(msg="ok", op=c["op"], seen=seen, value=answer.get("value", ""), held=c["hold"] in flags)

def write(c):
    if c["guard"] != "none": look(c)
    say(msg="stage", op=c["op"], stage="working")
    time.sleep(c.get("work_ms", 0) / 1000)
    say(msg="stage", op=c["op"], stage="worked")
    if c["guard"] == "before-write": look(c)
    key = {"idempotency_key": c["idempotency_key"]} if "idempotency_key" in c else {}
    seen, answer = ping, post("/write", c, value=c["value"], base=c.get("base", ""), **key)
    with speak: say(msg="ok", op=c["op"], seen=seen, held=c["hold"] in flags, **({"value": answer.get("value", "")} if key else {}))

def release(c):
    with speak: flags.pop(c["hold"], None)  # before it is sent (rule 2)
    grant, seen = grants[c["hold"]], ping
    grant.over = True  # from here on the end of the connection is no loss
    grant.send("release")
    answer = grant.receive()
    grant.wire.close(), grants.pop(c["hold"])
    say(msg="ok", op=c["op"], seen=seen, owned=answer == "released")

def run(operation, c):
    try:
        if operation is not acquire and c["hold"] not in grants: raise Definite("refused", "no such hold")
        operation(c)
    except Exception as e:
        with speak: say(op=c["op"], error=str(e), held=c["hold"] in flags,
                        **({"msg": "fail", "code": e.code} if isinstance(e, Definite) else {"msg": "info"}))

operations = {f.__name__: f for f in (acquire, read, write, release)}
for line in sys.stdin:
    c = json.loads(line)
    if c["cmd"] == "ping":
        ping = c["n"]
        with speak: say(msg="pong", n=ping, holds=sorted(flags))
    elif c["cmd"] == "init":
        init = c["init"]
        say(msg="ready", ready={"protocol": 1, "client": "toy 1.0", "tokens": "ordered",
            "release": "checked",  # the server removes the lock of this connection, and of no other
            "boot_id": open("/proc/sys/kernel/random/boot_id").read().strip(),
            "commands": ["ping", "cancel", "close", "idempotency-key", *operations]})
    elif c["cmd"] == "cancel":
        cancelled.add(c["op"])
        if grant := waiting.get(c["op"]): grant.send("cancel")
    elif c["cmd"] == "close": break
    elif c["cmd"] in operations: threading.Thread(target=run, args=(operations[c["cmd"]], c), daemon=True).start()
os._exit(0)  # the connections end with the process, and the locks with them
