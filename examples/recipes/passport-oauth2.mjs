// For Express. Without `state` and `pkce`, passport-oauth2 sends neither. It does not read metadata, and does not refresh:
// take `refresh` from another recipe.
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OAuth2Strategy from 'passport-oauth2';

const { AUTHORIZATION_URL, TOKEN_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SESSION_SECRET, PORT } =
  process.env;

const options = {
  authorizationURL: AUTHORIZATION_URL,
  tokenURL: TOKEN_URL,
  clientID: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  callbackURL: REDIRECT_URI,
  scope: 'profile:read bookings:read',
  state: true,
  pkce: true,
};
passport.use(
  new OAuth2Strategy(options, (accessToken, refreshToken, parameters, profile, done) =>
    // Store both tokens, encrypted, with the user of your application. `parameters` has expires_in and scope.
    done(null, { scope: parameters.scope }),
  ),
);

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }));
app.get('/connect', passport.authenticate('oauth2', { session: false }));
app.get('/callback', passport.authenticate('oauth2', { session: false }), (request, response) => {
  response.send(`Connected with ${request.user.scope}`);
});
app.listen(PORT, '127.0.0.1');
