class Grant:
    """SET NX as programs write it by hand; EXPIRY is what it sets with the record: nothing, so that only its holder ever removes it."""
    EXPIRY = ()
    def __init__(self, command):
        host, port = init["endpoints"][0].rsplit(":", 1)
        try: self.wire = socket.create_connection((host, int(port)))
        except OSError as e: raise Definite("refused", f"connecting: {e}")
        self.answers, self.one = self.wire.makefile("rb"), threading.Lock()
        self.key, self.session, self.token = "lockcheck:" + command["key"], os.urandom(8).hex(), ""
        while True:
            if command["op"] in cancelled: raise Definite("cancelled", "given up between two attempts")
            self.seen = ping  # before it is sent (rule 5)
            if self.ask("SET", self.key, self.session, "NX", *self.EXPIRY) == "+OK": break
            time.sleep(0.02)
        if self.EXPIRY: say(msg="lease", session=self.session, seen=self.seen, ttl_ms=int(self.EXPIRY[1]))
    def ask(self, *words):
        with self.one:
            self.wire.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(w).encode() for w in words)))
            line = self.answers.readline().decode().strip()
        if not line: raise OSError("the connection ended")
        if line[0] == "-": raise OSError(line)
        return line
    def send(self, line): pass  # cancel: looked at between two attempts
    def receive(self):
        script = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
        return "released" if self.ask("EVAL", script, 1, self.key, self.session) == ":1" else "nothing"
