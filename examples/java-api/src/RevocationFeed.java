import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Evicts tokens from the cache as soon as the authorization service broadcasts a revocation over NATS.
 *
 * <p>This small part of the NATS protocol (https://docs.nats.io/reference/reference-protocols/nats-protocol) needs
 * no library. For TLS or several servers use io.nats:jnats, and keep the rule of {@link #isTrusted}.
 */
final class RevocationFeed implements Runnable {
    private static final Duration ECHO_EVERY = Duration.ofSeconds(1);
    private static final Duration TRUST = Duration.ofSeconds(5);
    private static final List<String> BROADCASTS =
            List.of("oauth.grant.revoked", "oauth.client.changed", "oauth.user.changed");

    private final URI url;
    private final TokenCache cache;
    private final ObjectMapper json = new ObjectMapper();
    private volatile Instant pingedAt = Instant.EPOCH;
    private volatile Instant echoedAt = Instant.EPOCH;
    /** True if an unreadable broadcast arrived since the last PONG. Any entry may be stale then. */
    private boolean unreadable;

    RevocationFeed(URI url, TokenCache cache) {
        this.url = url;
        this.cache = cache;
        cache.trustWhile(this::isTrusted);
    }

    /**
     * True while the connection is known to work: for 5 s after sending the last ping that was answered. NATS does
     * not redeliver a broadcast, so without a connection revocations may be missed.
     */
    private boolean isTrusted() {
        Duration age = Duration.between(echoedAt, Instant.now());
        return !age.isNegative() && age.compareTo(TRUST) <= 0;
    }

    /** Connects, and reconnects forever. */
    @Override
    public void run() {
        while (true) {
            try (Socket socket = new Socket()) {
                listen(socket);
            } catch (IOException error) {
                System.err.println("revocation feed: " + error);
            }
            echoedAt = Instant.EPOCH;
            try {
                Thread.sleep(ECHO_EVERY.toMillis());
            } catch (InterruptedException error) {
                return;
            }
        }
    }

    private void listen(Socket socket) throws IOException {
        int port = url.getPort() == -1 ? 4222 : url.getPort();
        socket.connect(new InetSocketAddress(url.getHost(), port), (int) TRUST.toMillis());
        // The server answers pings every second, so a connection that is silent for this long is dead.
        socket.setSoTimeout((int) TRUST.toMillis());
        InputStream in = new BufferedInputStream(socket.getInputStream());
        OutputStream out = socket.getOutputStream();
        send(out, "CONNECT " + options());
        for (int number = 0; number < BROADCASTS.size(); number++)
            send(out, "SUB " + BROADCASTS.get(number) + " " + (number + 1));
        pingedAt = Instant.EPOCH;
        ScheduledExecutorService pings = Executors.newSingleThreadScheduledExecutor();
        pings.scheduleWithFixedDelay(() -> ping(out), 0, ECHO_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        try {
            while (true) read(in, out);
        } finally {
            pings.shutdownNow();
        }
    }

    private String options() throws IOException {
        ObjectNode options = json.createObjectNode().put("verbose", false).put("pedantic", false);
        options.put("name", "java-api").put("lang", "java").put("version", "1");
        if (url.getUserInfo() != null) {
            String[] login = url.getUserInfo().split(":", 2);
            options.put("user", login[0]).put("pass", login.length > 1 ? login[1] : "");
        }
        return json.writeValueAsString(options);
    }

    private void ping(OutputStream out) {
        // Sends one ping at a time, so that a PONG never counts as the answer to a later ping.
        if (pingedAt.isAfter(echoedAt)) return;
        pingedAt = Instant.now();
        try {
            send(out, "PING");
        } catch (IOException error) {
            // The reading thread detects that the connection has ended.
        }
    }

    private void read(InputStream in, OutputStream out) throws IOException {
        String line = readLine(in);
        String[] words = line.split(" ");
        switch (words[0]) {
            case "MSG" -> {
                int length = Integer.parseInt(words[words.length - 1]);
                byte[] payload = in.readNBytes(length + 2);
                evict(payload);
            }
            case "PING" -> send(out, "PONG");
            case "PONG" -> {
                // Tokens cached before the subscriptions may have been revoked in the meantime. Unreadable broadcasts
                // empty the cache only once per PONG, so that a flood of them cannot keep it empty.
                if (echoedAt.equals(Instant.EPOCH) || unreadable) cache.clear();
                unreadable = false;
                echoedAt = pingedAt;
            }
            // NATS rejected the login or a subscription. Without both, revocations would be missed.
            case "-ERR" -> throw new IOException(line);
            default -> {}
        }
    }

    private void evict(byte[] payload) {
        try {
            JsonNode broadcast = json.readTree(payload);
            if (broadcast.has("grant_id")) evict(broadcast.get("grant_id"), Token::grantId);
            else if (broadcast.has("client_id")) evict(broadcast.get("client_id"), Token::clientId);
            else if (broadcast.has("user_id")) evict(broadcast.get("user_id"), Token::userId);
            else unreadable = true;
        } catch (IOException error) {
            unreadable = true;
        }
    }

    private void evict(JsonNode value, Function<Token, String> field) {
        String stale = value.asText();
        cache.evict(token -> stale.equals(field.apply(token)));
    }

    private static synchronized void send(OutputStream out, String line) throws IOException {
        out.write((line + "\r\n").getBytes(StandardCharsets.UTF_8));
    }

    private static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int octet; (octet = in.read()) != '\n'; line.write(octet))
            if (octet == -1) throw new EOFException("NATS closed the connection");
        return line.toString(StandardCharsets.UTF_8).stripTrailing();
    }
}
