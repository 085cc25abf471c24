import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.*;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.data.*;

/**
 * Apache Curator's InterProcessMutex as a lock client: ephemeral sequential nodes on ZooKeeper, each of which waits for the one
 * before it. As its documentation asks, the states of the connection are listened to: SUSPENDED means that the lock is not to
 * be relied on for the moment, LOST that it is gone.
 *
 * Curator repeats requests and keeps their outcomes to itself. Handle, the ZooKeeper object that it works with, looks at them
 * on their way.
 */
class CuratorClient extends LockClient {
    private CuratorFramework curator;
    private String session; // of the connection; Curator tells of its changes one after another
    private volatile boolean suspended = true, closing;

    public static void main(String[] args) throws Exception { new CuratorClient().serve(); }

    @Override void start() {
        int ttl = init.get("ttl_ms").asInt();
        List<String> servers = new ArrayList<>();
        init.get("endpoints").forEach(e -> servers.add(e.asText()));
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder().connectString(String.join(",", servers))
            .sessionTimeoutMs(ttl).connectionTimeoutMs(ttl).retryPolicy(new ExponentialBackoffRetry(1000, 3))
            .zookeeperFactory(this::connect);
        JsonNode options = init.path("options");
        if (options.has("tls")) throw new IllegalStateException("this client speaks no TLS: leave ca, cert, key and server_name out of the attach-config");
        if (options.has("username")) {
            String login = options.get("username").asText() + ":" + options.path("password").asText();
            // What it makes is for users that show the same password, as lockcheck does, which removes it.
            builder.authorization("digest", login.getBytes(StandardCharsets.UTF_8)).aclProvider(new OwnersOnly());
        }
        curator = builder.build();
        curator.getConnectionStateListenable().addListener((framework, state) -> {
            try {
                changed(state);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        curator.start();
    }

    private static final class OwnersOnly implements ACLProvider {
        @Override public List<ACL> getDefaultAcl() { return ZooDefs.Ids.CREATOR_ALL_ACL; }

        @Override public List<ACL> getAclForPath(String path) { return ZooDefs.Ids.CREATOR_ALL_ACL; }
    }

    /** The node of a lock; a key of several names is a path. */
    private static String nodeOf(String key) {
        StringBuilder path = new StringBuilder("/lockcheck");
        for (String part : key.split("/")) path.append('/').append(URLEncoder.encode(part, StandardCharsets.UTF_8));
        return path.toString();
    }

    @Override Map<String, Object> declares() {
        String version = CuratorFramework.class.getPackage().getImplementationVersion();
        return Map.of("client", "Curator" + (version == null ? "" : " " + version) + " InterProcessMutex",
            "tokens", "ordered", // the change that made the lock's node (czxid)
            "release", "checked"); // a node is deleted by its name, which has a UUID in it
    }

    @Override String doubt() { return suspended ? "the connection is suspended" : null; }

    @Override void close() {
        closing = true;
        if (curator != null) curator.close();
    }

    private void changed(ConnectionState state) throws Exception {
        suspended = !state.isConnected();
        if (state.isConnected()) session = name(curator.getZookeeperClient().getZooKeeper().getSessionId());
        else if (state == ConnectionState.LOST && session != null && !closing) lost(session, "Curator's state is LOST");
    }

    private static String name(long session) { return Long.toHexString(session); }

    /**
     * Makes the connection of a new session, whose creation is the one request about its lease that is certainly
     * acknowledged by a majority. That the session expired is not reported: Curator makes itself believe so, too.
     */
    private ZooKeeper connect(String servers, int timeoutMS, Watcher watcher, boolean readOnly) throws Exception {
        long seen = ping;
        CompletableFuture<Handle> made = new CompletableFuture<>();
        boolean[] begun = {false};
        made.complete(new Handle(servers, timeoutMS, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected && !begun[0]) {
                begun[0] = true; // one thread calls this
                ZooKeeper handle = made.join();
                say("msg", "lease", "session", name(handle.getSessionId()), "seen", seen, "ttl_ms", handle.getSessionTimeout());
            }
            watcher.process(event);
        }, readOnly));
        return made.join();
    }

    @Override Grant acquire(Acquire making) throws Exception {
        Held held = new Held(making, nodeOf(making.key));
        Held.current.set(held);
        try {
            making.interruptible(true);
            if (!making.trying) held.mutex.acquire();
            else if (!held.mutex.acquire(0, TimeUnit.SECONDS)) throw held.givenUp("busy", "another has the lock");
        } catch (Definite e) {
            throw e;
        } catch (Exception e) {
            throw held.givenUp(making.isCancelled() ? "cancelled" : "refused", e.toString());
        } finally {
            making.interruptible(false);
        }
        try {
            held.identify();
        } catch (Exception e) {
            held.mutex.release(); // it is granted, and there is nothing to name the grant by
            throw e;
        }
        return held;
    }

    /** The library's mutex, which tells those who extend it where its node is. */
    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework curator, String path) { super(curator, path); }

        @Override protected String getLockPath() { return super.getLockPath(); }
    }

    /** A mutex, and what became of its requests, which are all made in its thread. */
    private final class Held extends Grant {
        static final ThreadLocal<Held> current = new ThreadLocal<>();
        final Acquire making;
        final Mutex mutex;
        String node; // that may be there
        boolean unanswered; // a node was asked for, or asked to be removed, and no answer came
        Boolean removed; // whether the last answered removal found the node

        Held(Acquire making, String path) {
            this.making = making;
            mutex = new Mutex(curator, path);
        }

        void identify() throws Exception {
            Stat stat = curator.checkExists().forPath(mutex.getLockPath());
            if (stat == null) throw new IllegalStateException("Curator says that it has the lock, and its node is gone");
            session = name(stat.getEphemeralOwner());
            token = Long.toString(stat.getCzxid());
        }

        /** Curator tries to remove the node, in the background if need be, and does not say whether it could. */
        Exception givenUp(String code, String why) {
            boolean nothingLeft = node == null && !unanswered;
            return nothingLeft ? new Definite(code, why) : new IllegalStateException(why + "; the node may still be there");
        }

        /** Curator says the same whether the node was there or not. */
        @Override Boolean release() throws Exception {
            unanswered = false;
            removed = null;
            try {
                mutex.release();
            } catch (IllegalMonitorStateException e) {
                throw new Definite("refused", e + ": nothing was sent");
            }
            boolean lostAnswer = unanswered && !Boolean.TRUE.equals(removed); // gone, perhaps by the removal that got none
            return lostAnswer ? null : removed;
        }
    }

    /** Curator's connection to ZooKeeper, of one session. */
    private static final class Handle extends ZooKeeperAdmin {
        Handle(String servers, int timeoutMS, Watcher watcher, boolean readOnly) throws IOException {
            super(servers, timeoutMS, watcher, readOnly);
        }

        private interface Request<T> { T send() throws KeeperException, InterruptedException; }

        /** After the errors that are passed on as they are, nothing was made or removed: the leader looks first. */
        private static <T> T change(Held held, Request<T> request) throws KeeperException, InterruptedException {
            try {
                return request.send();
            } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException | KeeperException.NoAuthException e) {
                throw e;
            } catch (KeeperException | InterruptedException e) {
                held.unanswered = true;
                throw e;
            }
        }

        @Override public String create(String path, byte[] data, List<ACL> acl, CreateMode mode, Stat stat, long ttl)
            throws KeeperException, InterruptedException {
            Held held = Held.current.get();
            if (held == null || mode != CreateMode.EPHEMERAL_SEQUENTIAL) return super.create(path, data, acl, mode, stat, ttl);
            if (!held.unanswered) held.seen = held.making.client().ping; // else the first may be the one that is found
            return held.node = change(held, () -> super.create(path, data, acl, mode, stat, ttl));
        }

        @Override public void delete(String path, int version) throws KeeperException, InterruptedException {
            Held held = Held.current.get();
            if (held == null) {
                super.delete(path, version);
                return;
            }
            try {
                change(held, () -> {
                    super.delete(path, version);
                    return null;
                });
                held.removed = true;
            } catch (KeeperException.NoNodeException e) {
                held.removed = false;
                throw e;
            } finally {
                if (held.removed != null) held.node = null;
            }
        }

        /** Curator looks at the node before its own when it begins to wait. */
        @Override public byte[] getData(String path, Watcher watcher, Stat stat) throws KeeperException, InterruptedException {
            byte[] found = super.getData(path, watcher, stat);
            Held held = Held.current.get();
            if (held != null) held.making.queued();
            return found;
        }
    }
}
