import { execFileSync } from 'node:child_process';
import type { ClientWithSecrets } from '#clients/client.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { handoverText, type HandoverOptions } from '#clients/operations/handover.js';
import { registeredClient } from '#test/support/stored.js';

const ORIGINS = {
  authUrl: 'https://auth.example.com',
  baseUrl: 'https://oauth.example.com',
  apiUrl: 'https://api.example.com',
};

/** Client_id with characters that only an imported client_id may contain. */
const IMPORTED = 'a`b`|c$(echo pwned)&d=1"\'+!e';

const scope = (name: string, resource: string) => ({
  name,
  resource,
  description: name,
  texts: { en: name },
  isDefault: false,
  access: 'read' as const,
});
const CATALOGUE = new ScopeCatalogue([
  scope('profile:read', ORIGINS.apiUrl),
  scope('bookings:read', 'https://bookings.example.com'),
]);

function textOf(client: Partial<ClientWithSecrets>, options: Partial<HandoverOptions> = {}): string {
  return handoverText(registeredClient(client), ORIGINS, {
    secretDelivery: 'in your password manager',
    times: { codeLifetime: 60, retryWindow: 30 },
    scopes: CATALOGUE,
    ...options,
  });
}

/** Runs the commands in a shell. @returns the arguments of curl and echo */
function argumentsOf(markdown: string): string[] {
  const commands = [...markdown.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
  const script = `curl() { printf '%s\\n' "$@" >&2; }; node() { :; }; echo() { printf '%s\\n' "$1" >&2; }\n`;
  const output = execFileSync('sh', ['-c', `exec 2>&1\n${script}${commands.join('\n')}`], {
    encoding: 'utf8',
  });
  return output.split('\n');
}

describe('the handover text', () => {
  it.each([true, false])('contains commands that quote an imported client_id (PAR: %s)', (requirePar) => {
    const sent = argumentsOf(textOf({ clientId: IMPORTED, requirePar }));
    expect(sent.filter((argument) => argument === `client_id=${IMPORTED}`)).toHaveLength(3);
    expect(sent.join('\n')).toContain(`${new URLSearchParams({ client_id: IMPORTED })}&`);
  });

  it('formats identifiers and addresses with backticks as code, without breaking the table', () => {
    const text = textOf({ clientId: IMPORTED, redirectUris: ['https://a.example/cb?x=``y`'] });
    expect(text).toContain('| client id | `` a`b`\\|c$(echo pwned)&d=1"\'+!e `` |\n');
    expect(text).toContain('character by character: ``` https://a.example/cb?x=``y` ```\n');
  });

  it('explains how to verify the response and how to revoke access', () => {
    const text = textOf({});
    expect(text).toContain('`iss` is\n`https://oauth.example.com` (RFC 9207)');
    expect(text).toContain('https://oauth.example.com/api/auth/oauth/revoke -d "token=$REFRESH_TOKEN"');
  });

  it('contains the time limits of the running services', () => {
    const text = textOf({}, { times: { codeLifetime: 1, retryWindow: 12 } });
    expect(text).toContain('Exchange the code within 1 second.');
    expect(text).toContain('repeat the same request within 12 seconds.');
    expect(text).not.toMatch(/\b(30|60) s/);
  });

  it('states that a lost response ends the access if retries are disabled', () => {
    const text = textOf({}, { times: { codeLifetime: 60, retryWindow: 0 } });
    expect(text).toContain('after a lost answer, send the user through step 1 again');
  });

  it('omits unknown time limits', () => {
    const text = textOf({}, { times: {} });
    expect(text).toContain('Exchange the code immediately.');
    expect(text).not.toMatch(/\d+ seconds?/);
  });

  it('contains a request to the API of each scope, and to the profile only with profile:read', () => {
    expect(textOf({})).toContain('curl -sS https://api.example.com/v2/me ');
    const text = textOf({ scopes: ['bookings:read'] });
    expect(text).not.toContain('/v2/me');
    expect(text).toContain('With `bookings:read`:');
    expect(text).toContain('curl -sS "https://bookings.example.com$API_PATH" ');
  });

  it('omits scopes that are no longer declared', () => {
    const text = textOf({ scopes: ['profile:read', 'gone:read'], optionalScopes: ['gone:read'] });
    expect(text).not.toContain('gone');
  });

  it('links to the integration guide, or explains where to get the guide', () => {
    expect(textOf({}, { guide: 'https://docs.example.com' })).toContain(
      'The integration guide has recipes for client libraries: https://docs.example.com\n',
    );
    const text = textOf({});
    expect(text).toContain('client libraries. If it did not come with this text, ask the operator for it.\n');
    expect(text).not.toContain('.md');
  });

  const OPENID = { scopes: ['openid', 'profile:read'] };

  it('contains the log-out addresses, and explains how to handle a logout token', () => {
    const scopes = null;
    const text = textOf(
      {
        ...OPENID,
        postLogoutRedirectUris: ['https://a.example/bye?a|b'],
        backchannelLogoutUri: 'https://a.example/logout',
      },
      { scopes },
    );
    expect(text).toContain('| https://auth.example.com/auth/logout, with `id_token_hint` |\n');
    expect(text).toContain('| users return after it to | `https://a.example/bye?a\\|b` |\n');
    expect(text).toContain('posted to `https://a.example/logout` |\n');
    expect(text).toContain('`logout+jwt`');
    const without = textOf(OPENID, { scopes });
    expect(without).toContain('no address: they stay there');
    expect(without).toContain('| not sent |');
    expect(without).not.toContain('logout+jwt');
    expect(textOf({})).not.toContain('Logout');
  });

  it('contains commands that send DPoP proofs for a DPoP-bound client', () => {
    const text = textOf({ dpopBound: true });
    expect(text).toContain('## Bound tokens');
    expect(text.match(/-H "DPoP: \$PROOF"/g)).toHaveLength(3);
    expect(text).toContain('-H "Authorization: DPoP $ACCESS_TOKEN"');
    expect(textOf({})).not.toContain('DPoP');
  });

  it('states that the refresh token of a client without rotation stays the same', () => {
    const text = textOf({ dpopBound: true, keepsRefreshToken: true });
    expect(text).toContain('The refresh token stays the same:');
    expect(text).not.toMatch(/new refresh token|One process refreshes/);
  });

  it('contains a nonce in each authorization request with openid', () => {
    for (const requirePar of [false, true])
      expect(textOf({ ...OPENID, requirePar }, { scopes: null })).toContain('&nonce=$NONCE&');
    expect(textOf({})).not.toContain('NONCE');
  });

  it('lists the algorithms that the profile permits (section 5.4.1 of FAPI 2.0)', () => {
    const keys = { jwksUri: 'https://a.example/jwks', dpopBound: true };
    expect(textOf(keys)).toMatch(/`RS256`[^]*`ES384`/);
    const text = textOf({ ...keys, profile: 'fapi2' });
    expect(text).toContain('`PS256`');
    expect(text).not.toMatch(/RS256|ES384/);
  });

  it('states that a client with keys may use a new DPoP key (RFC 9449 5)', () => {
    const text = textOf({ jwksUri: 'https://a.example/jwks', dpopBound: true });
    expect(text).toContain('You may use a new key at any time');
    expect(textOf({ dpopBound: true })).toContain('Keep the key as long as the tokens');
  });

  it('names the FAPI profile', () => {
    expect(textOf({ profile: 'fapi2' })).toContain('| profile | FAPI 2.0 Security Profile: ');
    expect(textOf({})).not.toContain('FAPI');
  });

  it('contains short commands for a generated client_id', () => {
    expect(textOf({})).toContain('-d client_id=sc_abcdefghijklmnopqrstuvwx \\\n');
    expect(textOf({})).toContain('| client id | `sc_abcdefghijklmnopqrstuvwx` |\n');
  });
});
