import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/**
 * The client's end of the client protocol (../../README.md): pings, the belief flags, the guards, the work, the resource. A
 * lock client extends it. The acquire and the release of a hold are run in one thread, because locks of Java belong to threads.
 */
abstract class LockClient {
    /** The operation certainly did not happen, and never will: fail. Any other exception leaves that open: info. */
    static class Definite extends Exception {
        private static final long serialVersionUID = 1;
        final String code;

        Definite(String code, String text) {
            super(text);
            this.code = code;
        }
    }

    /** A lock that was granted. */
    abstract static class Grant {
        String session = "", token = "";
        long seen; // the last ping read before the request was sent that won

        /** Gives the lock back; whether it removed this grant's own record, null if that is not known. */
        abstract Boolean release() throws Exception;
    }

    /** An acquire that is under way, in a thread of its own. */
    final class Acquire {
        final String key;
        final boolean trying;
        final ExecutorService thread = Executors.newSingleThreadExecutor(LockClient::daemon);
        private final long op;
        private boolean queued, cancelled;
        private Thread waiting; // to be interrupted when the acquire is given up

        Acquire(JsonNode c) {
            op = c.get("op").asLong();
            key = c.get("key").asText();
            trying = queued = c.path("try").asBoolean();
        }

        /** The lock is another's, and this acquire waits for it. */
        void queued() {
            if (!queued) say("msg", "stage", "op", op, "stage", "queued");
            queued = true;
        }

        LockClient client() { return LockClient.this; }

        synchronized boolean isCancelled() { return cancelled; }

        synchronized void cancel() {
            cancelled = true;
            if (waiting != null) waiting.interrupt();
        }

        /** From here on the current thread is interrupted when the acquire is given up; with false no more. */
        synchronized void interruptible(boolean is) {
            waiting = is ? Thread.currentThread() : null;
            if (is && cancelled) waiting.interrupt();
            else if (!is) Thread.interrupted();
        }
    }

    /** Makes the lock, without waiting for the service. */
    abstract void start() throws Exception;

    /** What the lock declares of itself: client, tokens, release. */
    abstract Map<String, Object> declares();

    abstract Grant acquire(Acquire making) throws Exception;

    /** Why the library's user is not to rely on any lock just now, null if nothing speaks against it. */
    abstract String doubt();

    /** Gives the session back. */
    abstract void close() throws Exception;

    private interface Operation { void run(JsonNode command) throws Exception; }

    private static final ObjectMapper json = new ObjectMapper();
    private final PrintStream out = System.out;
    private final Map<String, String> flags = new TreeMap<>(); // hold -> session; out and flags are guarded by out
    private final Set<String> lost = new HashSet<>();
    private final Map<String, Grant> grants = new ConcurrentHashMap<>();
    private final Map<String, Acquire> holds = new ConcurrentHashMap<>();
    private final Map<Long, Acquire> waiting = new ConcurrentHashMap<>();
    private final ExecutorService pool = Executors.newCachedThreadPool(LockClient::daemon);
    private final HttpClient http =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).proxy(HttpClient.Builder.NO_PROXY).build();
    private final Map<String, Operation> operations =
        Map.of("acquire", this::acquired, "read", this::read, "write", this::write, "release", this::release);
    volatile long ping; // the last one read
    JsonNode init;

    static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }

    void say(Object... fields) {
        Map<String, Object> report = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) if (fields[i + 1] != null) report.put((String) fields[i], fields[i + 1]);
        synchronized (out) {
            try {
                out.write((json.writeValueAsString(report) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            } catch (IOException e) {
                Runtime.getRuntime().halt(1);
            }
        }
    }

    /** The library told its user that the session, and with it all its grants, is gone. */
    void lost(String session, String why) {
        synchronized (out) {
            say("msg", "lost", "session", session, "error", why);
            lost.add(session); // only now, after it was printed
            flags.values().removeIf(session::equals);
        }
    }

    private void acquired(JsonNode c) throws Exception {
        Acquire making = waiting.get(c.get("op").asLong());
        String hold = c.get("hold").asText();
        Grant grant;
        try {
            grant = acquire(making);
        } finally {
            waiting.remove(making.op);
        }
        holds.put(hold, making);
        grants.put(hold, grant);
        synchronized (out) {
            if (!lost.contains(grant.session)) flags.put(hold, grant.session);
            say("msg", "ok", "op", making.op, "session", grant.session, "token", grant.token, "seen", grant.seen);
        }
    }

    private void read(JsonNode c) throws Exception {
        long seen = ping;
        JsonNode answer = post("/read", c, Map.of());
        answered(c, "seen", seen, "value", answer.path("value").asText());
    }

    private void write(JsonNode c) throws Exception {
        String guard = c.get("guard").asText();
        if (!guard.equals("none")) look(c);
        say("msg", "stage", "op", c.get("op").asLong(), "stage", "working");
        Thread.sleep(c.path("work_ms").asLong());
        say("msg", "stage", "op", c.get("op").asLong(), "stage", "worked");
        if (guard.equals("before-write")) look(c);
        long seen = ping;
        Map<String, String> fields = new HashMap<>(Map.of("value", c.get("value").asText(), "base", c.path("base").asText()));
        boolean once = c.has("idempotency_key");
        if (once) fields.put("idempotency_key", c.get("idempotency_key").asText());
        JsonNode answer = post("/write", c, fields);
        answered(c, "seen", seen, "value", once ? answer.path("value").asText() : null); // another's, if its record came first
    }

    private void answered(JsonNode c, String name, Object is, String other, Object value) {
        synchronized (out) {
            boolean held = flags.containsKey(c.get("hold").asText());
            say("msg", "ok", "op", c.get("op").asLong(), name, is, other, value, "held", held);
        }
    }

    private void look(JsonNode c) throws Definite {
        String why = doubt();
        synchronized (out) {
            if (!flags.containsKey(c.get("hold").asText())) why = "the lock was lost";
        }
        if (why != null) throw new Definite("guard", why);
    }

    private JsonNode post(String path, JsonNode c, Map<String, String> more) throws Exception {
        String hold = c.get("hold").asText();
        Map<String, String> body = new HashMap<>(more);
        body.putAll(Map.of("request", c.get("op").asText(), "hold", hold, "key", c.get("key").asText(), "token", grants.get(hold).token));
        HttpRequest request = HttpRequest.newBuilder(URI.create(init.get("resource").asText() + path))
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(json.writeValueAsString(body))).build();
        HttpResponse<String> answer;
        try {
            answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (ConnectException e) {
            throw new Definite("refused", e.toString());
        }
        if (answer.statusCode() >= 500) throw new IOException(answer.body());
        if (answer.statusCode() >= 400) throw new Definite(answer.statusCode() == 409 ? "rejected" : "refused", answer.body());
        return json.readTree(answer.body());
    }

    private void release(JsonNode c) throws Exception {
        String hold = c.get("hold").asText();
        long seen;
        synchronized (out) {
            flags.remove(hold); // before it is sent
            seen = ping;
        }
        Boolean owned = grants.get(hold).release();
        grants.remove(hold); // after an unknown outcome it may be released again
        holds.remove(hold).thread.shutdown();
        say("msg", "ok", "op", c.get("op").asLong(), "seen", seen, "owned", owned);
    }

    private void run(JsonNode c, Acquire making) {
        try {
            operations.get(c.get("cmd").asText()).run(c);
        } catch (Exception e) {
            String code = e instanceof Definite ? ((Definite) e).code : null;
            if (making != null) making.thread.shutdown();
            synchronized (out) {
                boolean held = flags.containsKey(c.get("hold").asText());
                say("msg", code == null ? "info" : "fail", "code", code, "op", c.get("op").asLong(), "error", e.toString(),
                    "held", held);
            }
        }
    }

    private void begin(JsonNode c) {
        String name = c.get("cmd").asText(), hold = c.get("hold").asText();
        if (name.equals("acquire")) {
            Acquire making = new Acquire(c);
            waiting.put(making.op, making);
            making.thread.execute(() -> run(c, making));
        } else if (!grants.containsKey(hold)) {
            say("msg", "fail", "code", "refused", "op", c.get("op").asLong(), "error", "no such hold");
        } else {
            (name.equals("release") ? holds.get(hold).thread : pool).execute(() -> run(c, null));
        }
    }

    private void take(JsonNode c) throws Exception {
        String name = c.get("cmd").asText();
        if (name.equals("ping")) {
            synchronized (out) {
                ping = c.get("n").asLong();
                say("msg", "pong", "n", ping, "holds", flags.keySet());
            }
        } else if (name.equals("init")) {
            init = c.get("init");
            Map<String, Object> ready = new LinkedHashMap<>(declares());
            ready.put("protocol", 1);
            ready.put("boot_id", Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim());
            ready.put("commands", List.of("ping", "acquire", "read", "write", "release", "cancel", "close", "idempotency-key"));
            say("msg", "ready", "ready", ready);
            start(); // only now: all that it reports comes after
        } else if (name.equals("cancel")) {
            Acquire making = waiting.get(c.get("op").asLong());
            if (making != null) making.cancel();
        } else if (operations.containsKey(name)) {
            begin(c);
        }
    }

    /** Serves until the harness closes the client. What does not end within 1.5 s ends with the process. */
    void serve() throws Exception {
        System.setOut(System.err); // standard output is the protocol's alone
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            JsonNode c = json.readTree(line);
            if (c.get("cmd").asText().equals("close")) break;
            take(c);
        }
        Thread last = daemon(() -> {
            try {
                close();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        last.start();
        last.join(1500);
        Runtime.getRuntime().halt(0);
    }
}
