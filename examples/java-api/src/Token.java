import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The fields of an RFC 7662 response that this API uses. */
@JsonIgnoreProperties(ignoreUnknown = true)
record Token(
        boolean active,
        @JsonProperty("sub") String userId,
        @JsonProperty("client_id") String clientId,
        @JsonProperty("grant_id") String grantId,
        String scope,
        long exp,
        List<String> aud,
        JsonNode cnf) {

    Token {
        if (active)
            Stream.of(userId, clientId, grantId, scope).forEach(Objects::requireNonNull);
    }

    /** RFC 9449 6: a bound token is not a bearer token, and this API does not check proofs. */
    boolean isValidBearerToken() {
        return active && cnf == null;
    }

    /** RFC 9700 2.3: a token for other APIs is not for this one. Without an audience it is for all. */
    boolean isFor(String apiUrl) {
        return aud == null || aud.contains(apiUrl);
    }

    boolean hasScope(String wanted) {
        return List.of(scope.split(" ")).contains(wanted);
    }

    Instant expiresAt() {
        return Instant.ofEpochSecond(exp);
    }
}
