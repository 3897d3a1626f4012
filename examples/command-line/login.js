// Two ways to log in: with a browser on this machine (RFC 8252), or with a browser on another device (RFC 8628).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as oauth from 'openid-client';

const PATIENCE_MS = 5 * 60_000;

/** Returns false over SSH, where the browser would open on the remote machine, and on Linux without a display. */
export function hasBrowser({ env, platform } = process) {
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * Opens the system's browser and receives the code on a free port of 127.0.0.1 (RFC 8252 7.3).
 *
 * @param show displays a message to the user
 * @returns the response of the token endpoint
 */
export async function logInHere(server, scope, show) {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const redirectUri = `http://127.0.0.1:${listener.address().port}/callback`;
  const [state, verifier] = [oauth.randomState(), oauth.randomPKCECodeVerifier()];
  const url = oauth.buildAuthorizationUrl(server, {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  show(`If no browser opens, open this address yourself:\n${url}`);
  openBrowser(url.href);
  try {
    const { callback, answer } = await waitForCallback(listener, redirectUri, state);
    try {
      const tokens = await oauth.authorizationCodeGrant(server, callback, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      });
      answer('You are logged in. You can close this page.');
      return tokens;
    } catch (error) {
      answer('You are not logged in. The terminal has the reason.');
      throw error;
    }
  } finally {
    listener.close();
  }
}

/** Waits for the authorization response. Ignores other requests, which any program or web page can send. */
function waitForCallback(listener, redirectUri, state) {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => reject(new Error('The login has timed out. Run the command again.')),
      PATIENCE_MS,
    );
    listener.on('request', (request, response) => {
      const callback = new URL(request.url, redirectUri);
      if (callback.pathname !== '/callback' || callback.searchParams.get('state') !== state)
        return response.writeHead(404).end();
      clearTimeout(limit);
      // Closes the connection, so that the process can end.
      const headers = { 'Content-Type': 'text/plain', Connection: 'close' };
      return resolve({ callback, answer: (text) => response.writeHead(200, headers).end(text) });
    });
  });
}

/** Passes the URL as an argument, because a shell would interpret special characters in it. */
function openBrowser(url) {
  const [command, ...args] = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  }[process.platform] ?? ['xdg-open'];
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  // Ignores errors, because the user can open the URL without our help.
  browser.on('error', () => undefined);
  browser.unref();
}

/** Shows a code and waits until the user has entered it in a browser on any device (RFC 8628 3). */
export async function logInElsewhere(server, scope, show) {
  if (!server.serverMetadata().device_authorization_endpoint)
    throw new Error('Log in on a machine with a browser: this service has no login on another device.');
  const device = await oauth.initiateDeviceAuthorization(server, { scope });
  show(`Open ${device.verification_uri} on any device, and enter the code ${device.user_code}`);
  show(`or open ${device.verification_uri_complete} and compare the code.`);
  return oauth.pollDeviceAuthorizationGrant(server, device);
}
