import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;

/** Introspects tokens at the authorization service (RFC 7662) and caches the responses. */
final class Introspector {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
    private final ObjectMapper json = new ObjectMapper();
    private final URI url;
    private final String apiUrl;
    private final String authorization;
    private final TokenCache cache;

    /**
     * @param apiUrl public URL of this API
     * @param id id of the resource server, which authenticates with the id and the secret
     */
    Introspector(URI url, String apiUrl, String id, String secret, TokenCache cache) {
        this.url = url;
        this.apiUrl = apiUrl;
        this.authorization =
                "Basic " + Base64.getEncoder().encodeToString((id + ":" + secret).getBytes(StandardCharsets.UTF_8));
        this.cache = cache;
    }

    /**
     * Returns an empty value for an invalid token.
     *
     * @throws IOException if the token cannot be checked now: respond with 503, never accept the request
     */
    Optional<Token> introspect(String token) throws IOException, InterruptedException {
        Optional<Token> cached = cache.get(token);
        if (cached.isPresent()) return cached;
        long evictions = cache.evictions();
        Token found = ask(token);
        if (!found.isValidBearerToken() || !found.isFor(apiUrl)) return Optional.empty();
        cache.put(token, found, evictions);
        return Optional.of(found);
    }

    private Token ask(String token) throws IOException, InterruptedException {
        String form = "token=" + URLEncoder.encode(token, StandardCharsets.UTF_8);
        HttpRequest request = HttpRequest.newBuilder(url)
                .timeout(TIMEOUT)
                .header("Authorization", authorization)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        var answer = http.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != 200) throw new IOException("introspection answered " + answer.statusCode());
        return json.readValue(answer.body(), Token.class);
    }
}
