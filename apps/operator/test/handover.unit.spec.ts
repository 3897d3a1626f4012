import { execFileSync } from 'node:child_process';
import type { ClientWithSecrets } from '#database/client/client.js';
import { handoverText } from '../src/client/handover.js';

const ORIGINS = {
  AUTH_URL: 'https://auth.example.com',
  BASE_URL: 'https://oauth.example.com',
  API_URL: 'https://api.example.com',
};

/** Visible ASCII, as an imported identifier may have; a generated one has none of it. */
const IMPORTED = 'a`b`|c$(echo pwned)&d=1"\'+!e';

function textOf(client: Partial<ClientWithSecrets>): string {
  const whole: ClientWithSecrets = {
    clientId: 'sc_abcdefghijklmnopqrstuvwx',
    name: 'Calendar Connect',
    type: 'confidential',
    redirectUris: ['https://a.example/cb'],
    scopes: ['profile:read'],
    optionalScopes: [],
    requirePar: false,
    firstParty: false,
    disabledAt: null,
    logo: null,
    secrets: [],
    createdAt: new Date(0),
    ...client,
  };
  return handoverText(whole, ORIGINS, { secretDelivery: 'in your password manager' });
}

/** What curl and echo get when somebody pastes the commands. */
function argumentsOf(markdown: string): string[] {
  const commands = [...markdown.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
  const script = `curl() { printf '%s\\n' "$@" >&2; }; node() { :; }; echo() { printf '%s\\n' "$1" >&2; }\n`;
  const output = execFileSync('sh', ['-c', `exec 2>&1\n${script}${commands.join('\n')}`], {
    encoding: 'utf8',
  });
  return output.split('\n');
}

describe('client handover', () => {
  it.each([true, false])('has commands that send an imported client_id as it is (PAR: %s)', (requirePar) => {
    const sent = argumentsOf(textOf({ clientId: IMPORTED, requirePar }));
    expect(sent.filter((argument) => argument === `client_id=${IMPORTED}`)).toHaveLength(2);
    expect(sent.join('\n')).toContain(`${new URLSearchParams({ client_id: IMPORTED })}&`);
  });

  it('shows identifiers and addresses with backticks as code, and keeps its table', () => {
    const text = textOf({ clientId: IMPORTED, redirectUris: ['https://a.example/cb?x=``y`'] });
    expect(text).toContain('| client id | `` a`b`\\|c$(echo pwned)&d=1"\'+!e `` |\n');
    expect(text).toContain('character by character: ``` https://a.example/cb?x=``y` ```\n');
  });

  it('has short commands for a generated client_id', () => {
    expect(textOf({})).toContain('-d client_id=sc_abcdefghijklmnopqrstuvwx \\\n');
    expect(textOf({})).toContain('| client id | `sc_abcdefghijklmnopqrstuvwx` |\n');
  });
});
