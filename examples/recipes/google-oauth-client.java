// The library does not generate or compare `state`. `enablePKCE` keeps one verifier for all users of a flow: create a flow
// for each attempt.
import com.google.api.client.auth.oauth2.AuthorizationCodeRequestUrl;
import com.google.api.client.auth.oauth2.AuthorizationCodeResponseUrl;
import com.google.api.client.auth.oauth2.AuthorizationCodeTokenRequest;
import com.google.api.client.auth.oauth2.BearerToken;
import com.google.api.client.auth.oauth2.ClientParametersAuthentication;
import com.google.api.client.auth.oauth2.Credential;
import com.google.api.client.auth.oauth2.RefreshTokenRequest;
import com.google.api.client.auth.oauth2.TokenResponse;
import com.google.api.client.auth.oauth2.TokenResponseException;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpTransport;
import com.google.api.client.http.UrlEncodedContent;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.gson.GsonFactory;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;

final class Recipe {
    static final HttpTransport HTTP = new NetHttpTransport();
    static final GsonFactory JSON = GsonFactory.getDefaultInstance();
    static final String CLIENT_ID = System.getenv("CLIENT_ID");
    static final String CLIENT_SECRET = System.getenv("CLIENT_SECRET");
    static final String REDIRECT_URI = System.getenv("REDIRECT_URI");
    static final String ISSUER = System.getenv("ISSUER");
    static final GenericUrl TOKEN_URL = new GenericUrl(System.getenv("TOKEN_URL"));
    static final ClientParametersAuthentication SECRET = new ClientParametersAuthentication(CLIENT_ID, CLIENT_SECRET);

    record Session(String state, String verifier) {}

    record Start(String url, Session session) {}

    static Start start() throws Exception {
        var session = new Session(random(), random());
        byte[] challenge = MessageDigest.getInstance("SHA-256").digest(session.verifier().getBytes("US-ASCII"));
        var url = new AuthorizationCodeRequestUrl(System.getenv("AUTHORIZATION_URL"), CLIENT_ID)
                .setRedirectUri(REDIRECT_URI)
                .setScopes(List.of("profile:read", "bookings:read"))
                .setState(session.state())
                .set("code_challenge", base64(challenge))
                .set("code_challenge_method", "S256");
        return new Start(url.build(), session);
    }

    static TokenResponse finish(String callback, Session session) throws IOException {
        var answer = new AuthorizationCodeResponseUrl(callback);
        boolean isOurs = session.state().equals(answer.getState()) && ISSUER.equals(answer.getFirst("iss"));
        if (!isOurs) throw new IOException("not the answer to our request");
        if (answer.getError() != null) throw new IOException(answer.getError());
        return new AuthorizationCodeTokenRequest(HTTP, JSON, TOKEN_URL, answer.getCode())
                .setRedirectUri(REDIRECT_URI)
                .setClientAuthentication(SECRET)
                .set("code_verifier", session.verifier())
                .execute();
    }

    static TokenResponse refresh(TokenResponse tokens) throws IOException {
        return new RefreshTokenRequest(HTTP, JSON, TOKEN_URL, tokens.getRefreshToken())
                .setClientAuthentication(SECRET)
                .execute();
    }

    static String profile(TokenResponse tokens) throws IOException {
        var credential = new Credential(BearerToken.authorizationHeaderAccessMethod());
        credential.setAccessToken(tokens.getAccessToken());
        var me = new GenericUrl(System.getenv("API_URL") + "/v2/me");
        return HTTP.createRequestFactory(credential).buildGetRequest(me).execute().parseAsString();
    }

    static void disconnect(TokenResponse tokens) throws IOException {
        var revoke = new GenericUrl(ISSUER + "/api/auth/oauth/revoke");
        var body = Map.of("token", tokens.getRefreshToken(), "client_id", CLIENT_ID, "client_secret", CLIENT_SECRET);
        HTTP.createRequestFactory().buildPostRequest(revoke, new UrlEncodedContent(body)).execute().disconnect();
    }

    static boolean ended(Exception error) {
        return error instanceof TokenResponseException refused
                && refused.getDetails() != null
                && "invalid_grant".equals(refused.getDetails().getError());
    }

    private static String random() {
        var bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return base64(bytes);
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
