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

    /** Returns false for a bound token, which is not a bearer token (RFC 9449 6). This API does not check proofs. */
    boolean isValidBearerToken() {
        return active && cnf == null;
    }

    /** Returns true if the token is for this API (RFC 9700 2.3). A token without an audience is for all APIs. */
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
