import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { auditEvents } from '#test/support/audit-trail.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { until } from '#test/support/until.js';
import { expectRefused, jsonOf, runCommand, useRunningApps } from '../support/use-operator.js';

const WITHIN_MS = 60_000;
const CHANGED = 'https://schemas.openid.net/secevent/oauth/event-type/client-credential-changed';

const { env, fixture } = useRunningApps(['token'], { ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
const run = (args: readonly string[], stdin = '') => runCommand(args, env, stdin);

const received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly set: string }[] = [];
const server = createServer((incoming, response) => {
  void text(incoming).then((set) => {
    received.push({ path: incoming.url ?? '', headers: incoming.headers, set });
    response.writeHead(202).end();
  });
});
const at = (path: string) => received.filter((one) => one.path === path);
const arrived = (path: string, count: number) =>
  until(`${count} events at ${path}`, WITHIN_MS, () => at(path).length >= count);

beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
afterAll(() => server.close().closeAllConnections());

const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

interface Printed {
  readonly client_id: string;
  readonly event_stream?: { readonly events_url: string; readonly events: string[]; readonly status: string };
}

async function create(path: string, header = '', ...more: readonly string[]): Promise<string> {
  const registration = ['--name', `Events ${path}`, '--redirect-uri', 'https://a.example/cb', '--json'];
  const authorization = header === '' ? [] : ['--events-authorization', 'stdin'];
  const args = ['client', 'create', ...registration, '--events-url', urlOf(path), ...authorization, ...more];
  const { client_id: clientId, event_stream: stream } = jsonOf(await run(args, header)) as Printed;
  expect(stream).toMatchObject({ events_url: urlOf(path), status: 'enabled' });
  return clientId;
}

const update = (clientId: string, args: readonly string[], stdin = '') =>
  run(['client', 'update', clientId, '--json', ...args], stdin);
const causeEvent = (clientId: string) =>
  fixture.sql(
    'INSERT INTO client_secrets (client_id, hash) VALUES ($1, sha256(gen_random_uuid()::text::bytea))',
    [clientId],
  );
const shown = async (clientId: string) =>
  jsonOf(await run(['client', 'show', clientId, '--json'])) as Printed;

describe('a receiver that the operator registers', () => {
  it('gets events with its header, which no command shows and the database does not contain', async () => {
    const clientId = await create('/header', 'Bearer of-the-receiver\n');
    await causeEvent(clientId);
    await arrived('/header', 1);
    const [first] = at('/header');
    expect(first?.headers.authorization).toBe('Bearer of-the-receiver');
    expect(decodeJwt(first?.set ?? '')).toMatchObject({
      aud: clientId,
      events: { [CHANGED]: { change_type: 'create' } },
    });
    const { stdout } = await run(['client', 'show', clientId]);
    expect(stdout).not.toContain('of-the-receiver');
    const [row] = (await fixture.sql(
      'SELECT authorization_header AS header FROM event_streams WHERE client_id = $1',
      [clientId],
    )) as { header: Buffer }[];
    expect(row?.header.toString('latin1')).not.toContain('of-the-receiver');
    const [recorded] = await auditEvents(env.NATS_URL, { types: ['client.updated'], clientId });
    expect(recorded?.changes).toMatchObject({
      events_url: { old: null, new: urlOf('/header') },
      events_authorization: { omitted: 'secret' },
    });
  });

  it('keeps its header while its URL stays, and never passes it to another URL', async () => {
    const clientId = await create('/keeps', 'Bearer first');
    jsonOf(
      await update(clientId, ['--events-url', urlOf('/keeps'), '--events', 'client-credential-changed']),
    );
    await causeEvent(clientId);
    await arrived('/keeps', 1);
    expect(at('/keeps')[0]?.headers.authorization).toBe('Bearer first');
    jsonOf(await update(clientId, ['--events-url', urlOf('/moved')]));
    await causeEvent(clientId);
    await arrived('/moved', 1);
    expect(at('/moved')[0]?.headers).not.toHaveProperty('authorization');
    expect((await shown(clientId)).event_stream?.events).toEqual(['client-credential-changed']);
  });

  it('gets no events while it is paused, then learns of the pause first', async () => {
    const clientId = await create('/paused');
    expect((await run(['event', 'pause', clientId])).stdout).toMatch(/is paused/);
    await causeEvent(clientId);
    const probe = await create('/probe');
    await causeEvent(probe);
    await arrived('/probe', 1);
    expect(at('/paused')).toEqual([]);
    expect((await run(['event', 'enable', clientId])).stdout).toMatch(/is enabled/);
    await arrived('/paused', 3);
    const types = at('/paused').flatMap(({ set }) => Object.keys(decodeJwt(set)['events'] as object));
    expect(types.map((uri) => uri.split('/').at(-1))).toEqual([
      'stream-updated',
      'client-credential-changed',
      'stream-updated',
    ]);
  });

  it('is enabled again together with the logout tokens of the application', async () => {
    const clientId = await create('/logout', '', '--backchannel-logout-uri', 'https://a.example/logout');
    const statuses = () => fixture.sql('SELECT status FROM event_streams WHERE client_id = $1', [clientId]);
    await run(['event', 'pause', clientId]);
    expect(await statuses()).toEqual([{ status: 'paused' }, { status: 'paused' }]);
    await run(['event', 'enable', clientId]);
    expect(await statuses()).toEqual([{ status: 'enabled' }, { status: 'enabled' }]);
  });

  it('is removed with its stream by none', async () => {
    const clientId = await create('/removed');
    expect(jsonOf(await update(clientId, ['--events-url', 'none']))).toMatchObject({ event_stream: null });
    expect(await shown(clientId)).not.toHaveProperty('event_stream');
    expectRefused(await run(['event', 'pause', clientId]), /has no event stream/);
  });

  it.each([
    [
      'a URL without https',
      ['--events-url', 'http://app.example.com/events'],
      /--events-url must be an https URL/,
    ],
    [
      'an unknown event',
      ['--events-url', 'https://a.example/', '--events', 'logged-in'],
      /no event "logged-in"/,
    ],
    ['events without a URL', ['--events', 'tokens-revoked'], /--events-url/],
  ])('is refused with %s, and no application is registered', async (_case, args, problem) => {
    const count = () => fixture.sql('SELECT count(*) FROM clients');
    const before = await count();
    const registration = ['--name', 'Refused', '--redirect-uri', 'https://a.example/cb'];
    expectRefused(await run(['client', 'create', ...registration, ...args]), problem);
    expect(await count()).toEqual(before);
  });
});
