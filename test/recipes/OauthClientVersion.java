import com.google.api.client.auth.oauth2.TokenResponse;
import com.google.api.client.json.gson.GsonFactory;

/** Prints the version of google-oauth-client on the class path. Fails if a dependency is missing. */
class OauthClientVersion {
    public static void main(String[] arguments) throws Exception {
        GsonFactory.getDefaultInstance().toString(new TokenResponse());
        String version = TokenResponse.class.getPackage().getImplementationVersion();
        System.out.println(version + ", Java " + Runtime.version().feature());
    }
}
