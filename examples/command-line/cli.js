#!/usr/bin/env node
// The tool's commands and messages.
import { parseArgs } from 'node:util';
import * as oauth from 'openid-client';
import { hasBrowser, logInHere, logInElsewhere } from './login.js';
import { end, NotLoggedInError, start, useToken } from './session.js';

// A published tool can contain these values, because a client id is not a secret.
const { ISSUER = 'http://localhost:3002', API_URL = 'http://localhost:3003', CLIENT_ID } = process.env;
const SCOPE = 'profile:read';

const USAGE = `Usage: scheduling COMMAND

  login            log in with a browser
  login --device   log in with a browser on another device
  whoami           show the user who is logged in
  logout           end the access of this tool, and forget it`;

const COMMANDS = {
  async login(server, { device }) {
    const here = !device && hasBrowser();
    const tokens = await (here ? logInHere : logInElsewhere)(server, SCOPE, show);
    const place = await start(server, tokens);
    show(`Logged in. Your login is kept in ${place}.`);
  },

  async whoami(server) {
    const me = await useToken(server, new URL('/v2/me', API_URL));
    console.log(`${me.data.name} <${me.data.email}>`);
  },

  async logout(server) {
    await end(server);
    show('Logged out.');
  },
};

/** Writes to stderr, so that stdout contains only results. */
function show(message) {
  console.error(message);
}

async function connect() {
  if (!CLIENT_ID) throw new Error('CLIENT_ID is not set: README.md has the command.');
  const isLocal = new URL(ISSUER).hostname === 'localhost';
  return oauth.discovery(new URL(ISSUER), CLIENT_ID, {}, oauth.None(), {
    algorithm: 'oauth2',
    timeout: 10,
    execute: isLocal ? [oauth.allowInsecureRequests] : [],
  });
}

/** Messages for the errors that a user can cause (RFC 6749 4.1.2.1 and RFC 8628 3.5). */
const EXPLANATIONS = {
  access_denied: 'You did not allow the access.',
  expired_token: 'The code has expired. Run the command again.',
};

function explain(error) {
  if (error instanceof NotLoggedInError) return `${error.message} Run: scheduling login`;
  if (error.error in EXPLANATIONS) return EXPLANATIONS[error.error];
  if (error.error) return `${error.error}: ${error.error_description ?? 'no description'}`;
  if (error.cause?.code ?? error.cause?.cause?.code) return 'The service cannot be reached.';
  return error.message;
}

try {
  const options = { device: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } };
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [name = ''] = positionals;
  if (values.help) console.log(USAGE);
  else if (positionals.length !== 1 || !Object.hasOwn(COMMANDS, name)) throw new Error(USAGE);
  else await COMMANDS[name](await connect(), values);
} catch (error) {
  show(explain(error));
  process.exitCode = 1;
}
