// Starts the product's site and its two APIs, by default at the URLs in service.env. `node start.js site` starts only
// the site.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createNotesApi } from './notes-api.js';
import { oauthLogin } from './oauth-login.js';
import { createSite } from './site.js';

const siteOnly = process.argv[2] === 'site';
const forApis = ['INTROSPECTION_URL', 'RESOURCE_SERVER_ID', 'RESOURCE_SERVER_SECRET', 'NATS_URL'];
const required = ['AUTH_URL', ...(siteOnly ? [] : forApis)];
const missing = required.filter((name) => !process.env[name]);
if (missing.length > 0) {
  console.error(`${missing.join(', ')}: not set. Step 3 of docs/adopt.md has the commands.`);
  process.exit(1);
}
const { AUTH_URL, INTROSPECTION_URL, RESOURCE_SERVER_ID, RESOURCE_SERVER_SECRET, NATS_URL } = process.env;
const {
  SITE_URL = 'http://localhost:3020',
  NOTES_URL = 'http://localhost:3021',
  BOOKINGS_URL = 'http://localhost:3022',
} = process.env;
const listen = (app, url) =>
  app.listen(Number(new URL(url).port), '127.0.0.1', (error) => {
    if (!error) return console.log(url);
    console.error(`${url}: ${error.message}. To use another port: examples/product/README.md`);
    return process.exit(1);
  });

const { router, logOut } = await oauthLogin({ authUrl: AUTH_URL, siteUrl: SITE_URL });
const site = createSite({ connectedApps: `${AUTH_URL}/auth/apps`, onLogOut: logOut });
site.use(router);
listen(site, SITE_URL);
if (!siteOnly) startApis();

function startApis() {
  listen(
    createNotesApi({
      introspectionUrl: INTROSPECTION_URL,
      id: RESOURCE_SERVER_ID,
      secret: RESOURCE_SERVER_SECRET,
      apiUrl: NOTES_URL,
    }),
    NOTES_URL,
  );

  // The bookings API uses NestJS and the introspection package, which needs NATS but no credentials.
  const { BOOKINGS_API = fileURLToPath(new URL('../bookings-api/dist/main.js', import.meta.url)) } =
    process.env;
  if (!existsSync(BOOKINGS_API)) {
    console.error(`${BOOKINGS_API} is missing: build the bookings API first (step 3 of docs/adopt.md).`);
    process.exit(1);
  }
  const bookings = spawn(process.execPath, [BOOKINGS_API], {
    env: { ...process.env, NATS_URL, API_URL: BOOKINGS_URL, PORT: new URL(BOOKINGS_URL).port },
    stdio: 'inherit',
  });
  bookings.on('exit', (code) => process.exit(code ?? 1));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => bookings.kill() && process.exit(0));
}
