import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** A protected API with two endpoints and two scopes. */
public final class BookingsApi {
    private static final String REALM = "Bearer realm=\"bookings\"";

    private final Introspector introspector;
    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, List<String>> bookings = new ConcurrentHashMap<>();

    private BookingsApi(Introspector introspector) {
        this.introspector = introspector;
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, String> settings = System.getenv();
        // Without the feed, a revoked token is accepted until its cache entry expires.
        var lifetime = Duration.ofSeconds(Long.parseLong(settings.getOrDefault("CACHE_SECONDS", "30")));
        TokenCache cache = new TokenCache(lifetime);
        if (settings.containsKey("NATS_URL"))
            new Thread(new RevocationFeed(URI.create(settings.get("NATS_URL")), cache), "revocation-feed").start();
        Introspector introspector = new Introspector(
                URI.create(settings.get("INTROSPECTION_URL")),
                settings.get("API_URL"),
                settings.get("RESOURCE_SERVER_ID"),
                settings.get("RESOURCE_SERVER_SECRET"),
                cache);
        int port = Integer.parseInt(settings.getOrDefault("PORT", "3008"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/bookings", new BookingsApi(introspector)::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            switch (exchange.getRequestMethod()) {
                case "GET" -> list(exchange);
                case "POST" -> book(exchange);
                default -> {
                    exchange.getResponseHeaders().set("Allow", "GET, POST");
                    exchange.sendResponseHeaders(405, -1);
                }
            }
        }
    }

    private void list(HttpExchange exchange) throws IOException {
        Optional<Token> token = tokenWith("bookings:read", exchange);
        if (token.isEmpty()) return;
        String userId = token.get().userId();
        answer(exchange, 200, Map.of("user_id", userId, "bookings", bookings.getOrDefault(userId, List.of())));
    }

    private void book(HttpExchange exchange) throws IOException {
        Optional<Token> token = tokenWith("bookings:write", exchange);
        if (token.isEmpty()) return;
        JsonNode booking = json.readTree(exchange.getRequestBody().readNBytes(65_536));
        String title = booking.path("title").asText();
        if (title.isEmpty()) {
            exchange.sendResponseHeaders(400, -1);
            return;
        }
        bookings.computeIfAbsent(token.get().userId(), user -> new CopyOnWriteArrayList<>()).add(title);
        answer(exchange, 201, Map.of("title", title));
    }

    /** Returns the access token if it has the scope; otherwise rejects the request (RFC 6750 3.1). */
    private Optional<Token> tokenWith(String scope, HttpExchange exchange) throws IOException {
        String authorization = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization")).orElse("");
        if (!authorization.regionMatches(true, 0, "Bearer ", 0, 7)) return refuse(exchange, 401, REALM);
        Optional<Token> token;
        try {
            token = introspector.introspect(authorization.substring(7).strip());
        } catch (IOException | InterruptedException error) {
            System.err.println(error);
            exchange.getResponseHeaders().set("Retry-After", "1");
            exchange.sendResponseHeaders(503, -1);
            return Optional.empty();
        }
        if (token.isEmpty()) return refuse(exchange, 401, REALM + ", error=\"invalid_token\"");
        if (!token.get().hasScope(scope))
            return refuse(exchange, 403, REALM + ", error=\"insufficient_scope\", scope=\"" + scope + "\"");
        return token;
    }

    private static Optional<Token> refuse(HttpExchange exchange, int status, String challenge) throws IOException {
        exchange.getResponseHeaders().set("WWW-Authenticate", challenge);
        exchange.sendResponseHeaders(status, -1);
        return Optional.empty();
    }

    private void answer(HttpExchange exchange, int status, Object body) throws IOException {
        byte[] text = json.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, text.length);
        exchange.getResponseBody().write(text);
    }
}
