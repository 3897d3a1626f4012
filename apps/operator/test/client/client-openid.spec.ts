import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { databaseDataSource } from '#database/data-source.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const CALLBACK = 'https://app.example.com/callback';

const operator = useOperator();
const client = (...args: string[]) => operator.run(['client', ...args]);

async function create(...args: string[]): Promise<string> {
  const given = ['--name', 'Calendar', '--redirect-uri', CALLBACK, '--json'];
  return (jsonOf(await client('create', ...given, ...args)) as { client_id: string }).client_id;
}

const show = async (id: string) => jsonOf(await client('show', id, '--json')) as Record<string, unknown>;
const openIdOf = async (id: string) => {
  const { id_token_alg: alg, subject } = await show(id);
  return [alg, subject];
};
const sectorOf = async (id: string) => {
  const [row] = await operator.rows<{ sector: string | null }>(
    'SELECT sector FROM clients WHERE client_id = $1',
    [id],
  );
  return row?.sector;
};

/** Records a live grant to the client. */
async function allow(clientId: string): Promise<void> {
  const login = `ada${clientId.slice(-8).toLowerCase()}`;
  const created = await operator.run(
    ['user', 'create', '--email', `${login}@example.com`, '--username', login, '--name', 'Ada', '--json'],
    undefined,
    'correct horse battery staple\n',
  );
  const { id: userId } = jsonOf(created) as { id: number };
  const database = await databaseDataSource(operator.databaseUrl).initialize();
  try {
    const expiresAt = new Date(Date.now() + 60 * 60 * 1000);
    const scopes = { scope: 'openid', requestedScope: 'openid', resources: null };
    const id = clientId.padEnd(43, 'x').slice(0, 43);
    await new GrantRecordStore(database).create({ id, userId, clientId, ...scopes, expiresAt });
  } finally {
    await database.destroy();
  }
}

describe('operator client create', () => {
  it('prints the issuer for an application with the scope openid', async () => {
    const registered = (...args: string[]) =>
      client('create', '--name', 'Calendar', '--redirect-uri', CALLBACK, ...args);
    const issuer = 'https://api.example.com';
    const openid = ['--scope', 'openid profile'];
    expect(jsonOf(await registered(...openid, '--json'))).toMatchObject({ issuer });
    expect((await registered(...openid)).stdout).toMatch(/^issuer +https:\/\/api\.example\.com$/m);
    expect(jsonOf(await registered('--json'))).not.toHaveProperty('issuer');
  });

  it('registers RS256 and public subjects by default', async () => {
    const id = await create('--scope', 'openid profile email');
    expect(await openIdOf(id)).toEqual(['RS256', 'public']);
    expect((await show(id))['scopes']).toEqual(['openid', 'profile', 'email']);
  });

  it('registers another algorithm, and the host of the redirect URIs as the sector', async () => {
    const other = 'https://app.example.com:8443/other';
    const id = await create('--id-token-alg', 'ES256', '--subject', 'pairwise', '--redirect-uri', other);
    expect(await openIdOf(id)).toEqual(['ES256', 'pairwise']);
    expect(await sectorOf(id)).toBe('app.example.com');
    const [event] = await auditEvents(operator.natsUrl, { types: ['client.created'], clientId: id });
    expect(event?.detail).toMatchObject({ id_token_alg: 'ES256', subject: 'pairwise' });
  });

  it.each<[string[], RegExp]>([
    [['--id-token-alg', 'none'], /--id-token-alg "none" is unknown: it must be RS256 or ES256 or EdDSA/],
    [['--subject', 'private'], /--subject "private" is unknown: it must be public or pairwise/],
    [
      ['--subject', 'pairwise', '--redirect-uri', 'https://b.example.com/cb'],
      /several hosts, app\.example\.com, b\.example\.com/,
    ],
    [['--subject', 'pairwise', '--redirect-uri', 'http://127.0.0.1/cb'], /has no host of its own/],
    [
      ['--subject', 'pairwise', '--public', '--redirect-uri', 'com.example.app:/cb'],
      /"com\.example\.app:\/cb" has no host of its own/,
    ],
  ])('refuses %j', async (args, problem) => {
    const before = await operator.counts();
    expectRefused(await client('create', '--name', 'A', '--redirect-uri', CALLBACK, ...args), problem);
    expect(await operator.counts()).toEqual(before);
  });
});

describe('operator client update', () => {
  it('changes the algorithm, and resets it to the default', async () => {
    const id = await create();
    await client('update', id, '--id-token-alg', 'EdDSA');
    expect(await openIdOf(id)).toEqual(['EdDSA', 'public']);
    await client('update', id, '--id-token-alg', 'RS256');
    expect(await openIdOf(id)).toEqual(['RS256', 'public']);
  });

  it('refuses a redirect URI of another host for a pairwise client', async () => {
    const id = await create('--subject', 'pairwise');
    const added = ['--add-redirect-uri', 'https://b.example.com/cb'];
    expectRefused(await client('update', id, ...added), /several hosts, app\.example\.com, b\.example\.com/);
    expectRefused(await client('update', id, ...added, '--remove-redirect-uri', CALLBACK), /is not at app/);
    expect((await client('update', id, '--add-redirect-uri', 'https://app.example.com/2')).code).toBe(0);
    expect(await sectorOf(id)).toBe('app.example.com');
  });

  it('changes the subject of a client with grants only after a confirmation', async () => {
    const id = await create('--scope', 'openid');
    await allow(id);
    const refused = await client('update', id, '--subject', 'pairwise');
    expectRefused(refused, /--yes is missing\. .* has 1 live grant: with another subject/);
    expect(await sectorOf(id)).toBeNull();
    expect((await client('update', id, '--subject', 'public')).code).toBe(0);
    expect((await client('update', id, '--subject', 'pairwise', '--yes')).code).toBe(0);
    expect(await sectorOf(id)).toBe('app.example.com');
    const moved = ['--add-redirect-uri', 'https://b.example.com/cb', '--remove-redirect-uri', CALLBACK];
    expectRefused(await client('update', id, '--subject', 'pairwise', ...moved), /--yes is missing/);
    expect((await client('update', id, '--subject', 'pairwise', ...moved, '--yes')).code).toBe(0);
    expect(await sectorOf(id)).toBe('b.example.com');
  });

  it('changes the subject of a client without grants immediately', async () => {
    const id = await create('--subject', 'pairwise');
    expect((await client('update', id, '--subject', 'public')).code).toBe(0);
    expect(await openIdOf(id)).toEqual(['RS256', 'public']);
  });
});

describe('operator client export and import', () => {
  const exported = async (id: string) => (await client('export', id)).stdout;
  const importText = (text: string) => operator.run(['client', 'import', '-'], undefined, text);

  it('keep the algorithm and the sector', async () => {
    const id = await create('--id-token-alg', 'EdDSA', '--subject', 'pairwise');
    const text = await exported(id);
    expect(text).toContain('id_token_alg: EdDSA\n    subject: pairwise\n');
    const renamed = `${id.slice(0, -2)}zz`;
    expect(
      (await importText(text.replace(id, renamed).replace(/^ {4}secrets:[^]*?(?= {4}logo)/m, ''))).code,
    ).toBe(0);
    expect(await openIdOf(renamed)).toEqual(['EdDSA', 'pairwise']);
    expect(await sectorOf(renamed)).toBe('app.example.com');
  });

  it('refuse unknown values, several hosts, and another subject of a registered client', async () => {
    const text = await exported(await create());
    const wrong = text.replace('RS256', 'HS256').replace('subject: public', 'subject: secret');
    expectRefused(await importText(wrong), /id_token_alg "HS256" is unknown: it must be RS256/);
    expectRefused(await importText(wrong), /subject "secret" is unknown: it must be public or pairwise/);
    const pairwise = text.replace('subject: public', 'subject: pairwise');
    expectRefused(await importText(pairwise), /is public now, and an import does not change it/);
    const hosts = pairwise.replace(CALLBACK, `${CALLBACK}\n      - https://b.example.com/cb`);
    expectRefused(await importText(hosts), /have several hosts/);
  });
});

it('operator scope list shows the scopes of OpenID Connect', async () => {
  const { scopes } = jsonOf(await operator.run(['scope', 'list', '--json'])) as {
    scopes: { name: string }[];
  };
  const names = scopes.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['openid', 'profile', 'email', 'profile:read']));
});

it('operator client handover prints the OpenID section only with the scope openid', async () => {
  const settings = { ...operator.env, API_URL: 'https://api.example.com' };
  const textOf = async (id: string) => (await operator.run(['client', 'handover', id], settings)).stdout;
  const text = await textOf(await create('--scope', 'openid email', '--subject', 'pairwise'));
  expect(text).toContain('| discovery | https://api.example.com/.well-known/openid-configuration |');
  expect(text).toContain('| scopes | openid email |');
  expect(text).toContain('&response_type=code&');
  expect(text).toContain('| ID tokens are signed with | RS256 |');
  expect(text).toContain('hosts than app.example.com');
  expect(text).toContain('curl -sS https://api.example.com/userinfo ');
  const plain = await textOf(await create());
  expect(plain).not.toContain('OpenID Connect');
  expect(plain).not.toContain('response_type');
});
