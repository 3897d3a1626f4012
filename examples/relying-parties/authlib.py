# Flask; Django and Starlette have the same client. Redirect URI: /callback.
import os

from authlib.integrations.flask_client import OAuth
from flask import Flask

app = Flask(__name__)
app.secret_key = os.environ["SESSION_SECRET"]
scheduling = OAuth(app).register(
    "scheduling",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/login")
def login():
    return scheduling.authorize_redirect(os.environ["APP_URL"] + "/callback")


@app.get("/callback")
def callback():
    token = scheduling.authorize_access_token()
    profile = scheduling.userinfo(token=token)
    return f"Logged in as {token['userinfo']['sub']}, {profile['email']}"


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
