// Receives security events (RFC 8935). Environment: ISSUER, CLIENT_ID, AUTHORIZATION (the header of the stream), PORT.

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

class Receiver {
  static final String ISSUER = System.getenv("ISSUER");
  static final byte[] AUTHORIZATION = bytes(System.getenv("AUTHORIZATION"));
  static final DefaultJWTProcessor<SecurityContext> PROCESSOR = new DefaultJWTProcessor<>();

  /** In production: a table with a unique column, in the transaction that handles the event. */
  static final Set<String> RECEIVED = ConcurrentHashMap.newKeySet();

  public static void main(String[] args) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(ISSUER + "/.well-known/ssf-configuration")).build();
    var transmitter = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    var keys = JWKSourceBuilder.create(JSONObjectUtils.getURI(JSONObjectUtils.parse(transmitter), "jwks_uri").toURL()).build();
    // An ID token or a logout token is not an event.
    PROCESSOR.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("secevent+jwt")));
    PROCESSOR.setJWSKeySelector(new JWSVerificationKeySelector<>(Set.of(JWSAlgorithm.RS256, JWSAlgorithm.ES256), keys));
    PROCESSOR.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
        System.getenv("CLIENT_ID"), new JWTClaimsSet.Builder().issuer(ISSUER).build(), Set.of("jti", "events")));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext("/", Receiver::answer);
    server.start();
  }

  static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      var token = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII);
      var sent = exchange.getRequestHeaders().getFirst("Authorization");
      if (sent == null || !MessageDigest.isEqual(bytes(sent), AUTHORIZATION)) {
        send(exchange, 401, "{\"err\":\"authentication_failed\"}");
        return;
      }
      try {
        receive(PROCESSOR.process(token, null));
        send(exchange, 202, "");
      } catch (KeySourceException unavailable) {
        send(exchange, 503, ""); // the event is sent again
      } catch (Exception invalid) {
        send(exchange, 400, "{\"err\":\"invalid_request\"}"); // refused for good (RFC 8935 2.4)
      }
    }
  }

  static void receive(JWTClaimsSet event) throws Exception {
    if (!RECEIVED.add(event.getJWTID())) return; // an event may arrive twice
    var subject = event.getJSONObjectClaim("sub_id").getOrDefault("sub", "");
    for (Map.Entry<String, Object> one : event.getJSONObjectClaim("events").entrySet()) {
      var type = one.getKey().substring(one.getKey().lastIndexOf('/') + 1);
      System.out.println(type + " " + subject + " " + one.getValue());
    }
  }

  static void send(HttpExchange exchange, int status, String body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.isEmpty() ? -1 : body.length());
    exchange.getResponseBody().write(bytes(body));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
