// The library does not read the metadata: the application fetches it once. With `skipUserProfile: false` the library reads
// UserInfo. Redirect URI: /callback.
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import { Strategy } from 'passport-openidconnect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, SESSION_SECRET, PORT } = process.env;
const provider = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();

const options = {
  issuer: provider.issuer,
  authorizationURL: provider.authorization_endpoint,
  tokenURL: provider.token_endpoint,
  userInfoURL: provider.userinfo_endpoint,
  clientID: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  callbackURL: `${APP_URL}/callback`,
  scope: 'profile email',
  skipUserProfile: false,
};
passport.use(new Strategy(options, (issuer, profile, done) => done(null, profile)));
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get('/login', passport.authenticate('openidconnect'));
app.get('/callback', passport.authenticate('openidconnect'), ({ user }, response) =>
  response.send(`Logged in as ${user.id}, ${user.emails[0].value}`),
);
app.listen(PORT, '127.0.0.1');
