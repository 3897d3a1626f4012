import com.google.api.client.auth.oauth2.TokenResponse;
import com.google.api.client.json.gson.GsonFactory;
import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;

/** Calls the functions of a Java recipe, as requested by lines of JSON. */
class Driver {
    private static final Gson GSON = new Gson();

    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var request = JsonParser.parseString(line).getAsJsonObject();
            var answer = new JsonObject();
            try {
                answer.add("result", perform(request.get("call").getAsString(), request.getAsJsonArray("args")));
            } catch (Exception error) {
                answer.addProperty("error", error.toString());
                answer.addProperty("ended", Recipe.ended(error));
            }
            System.out.println(answer);
        }
    }

    private static JsonElement perform(String call, JsonArray arguments) throws Exception {
        if (call.equals("start")) {
            var start = Recipe.start();
            return GSON.toJsonTree(List.of(start.url(), start.session()));
        }
        if (call.equals("finish")) {
            var session = GSON.fromJson(arguments.get(1), Recipe.Session.class);
            return json(Recipe.finish(arguments.get(0).getAsString(), session));
        }
        var tokens = GsonFactory.getDefaultInstance().fromString(arguments.get(0).toString(), TokenResponse.class);
        switch (call) {
            case "refresh":
                return json(Recipe.refresh(tokens));
            case "profile":
                return JsonParser.parseString(Recipe.profile(tokens)).getAsJsonObject().get("data");
            default:
                Recipe.disconnect(tokens);
                return GSON.toJsonTree(true);
        }
    }

    private static JsonElement json(TokenResponse tokens) throws Exception {
        return JsonParser.parseString(GsonFactory.getDefaultInstance().toString(tokens));
    }
}
