import { randomUUID } from 'node:crypto';
import { useOperator } from '../support/use-operator.js';
import { expectRefused, jsonOf } from '../support/run-operator.js';

const operator = useOperator();
const client = (...args: string[]) =>
  operator.run(['client', ...args], { ...operator.env, API_URL: 'https://api.example.com' });

async function register(name: string): Promise<string> {
  const redirectUri = 'https://app.example.com/callback';
  const created = jsonOf(await client('create', '--name', name, '--redirect-uri', redirectUri, '--json'));
  return (created as { client_id: string }).client_id;
}

/** Registers a client by an import, which accepts any client_id. */
async function importClient(id: string, name: string): Promise<void> {
  const text = JSON.stringify({
    version: 1,
    clients: [
      {
        client_id: id,
        name,
        type: 'confidential',
        redirect_uris: ['https://app.example.com/callback'],
        scopes: ['profile:read'],
      },
    ],
  });
  expect(await operator.run(['client', 'import', '-'], undefined, text)).toMatchObject({ code: 0 });
}

/** Runs every client command that takes a client. @returns the client_id on which each command acted */
async function actedOn(...given: string[]): Promise<unknown[]> {
  const ids: unknown[] = [];
  const run = async (...args: string[]) => {
    // Ignores the warning on stderr: no token app is running.
    const { code, stdout } = await client(...args, '--json', ...given);
    expect(code).toBe(0);
    const result: unknown = JSON.parse(stdout);
    ids.push((result as { client_id?: string }).client_id);
    return result as { secret_id: string };
  };
  await run('show');
  await run('handover');
  await run('update', '--require-par', 'true');
  await run('disable');
  await run('enable');
  const { secret_id: secretId } = await run('secret', 'rotate');
  const live = jsonOf(await client('secret', 'list', '--json', ...given)) as { id: string }[];
  expect(live.map(({ id }) => id)).toContain(secretId);
  ids.push(
    (
      jsonOf(await client('secret', 'revoke', '--json', '--force', ...given, secretId)) as {
        client_id: string;
      }
    ).client_id,
  );
  const { clients } = jsonOf(await client('export', '--json', ...given)) as {
    clients: { client_id: string }[];
  };
  ids.push(...clients.map(({ client_id: id }) => id));
  // Fails because no token app confirms the revocations.
  expect(await client('delete', '--yes', ...given)).toMatchObject({ code: 1 });
  const [deleted] = await operator.rows<{ client_id: string }>(
    'SELECT client_id FROM clients WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT 1',
  );
  ids.push(deleted?.client_id);
  return ids;
}

const COMMANDS = 9;

describe('a client command', () => {
  it('accepts the unique name of a client', async () => {
    const name = `Calendar ${randomUUID()}`;
    const id = await register(name);
    expect(await actedOn(name)).toEqual(Array.from({ length: COMMANDS }, () => id));
    expectRefused(await client('show', name), /there is no client "Calendar /);
    // A deletion can be repeated by id.
    const again = await client('delete', id, '--yes');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('run this command again') });
  });

  it('refuses a name that several clients have, lists their ids and changes nothing', async () => {
    const ids = [await register('Twice'), await register('Twice')];
    for (const args of [['show'], ['disable'], ['delete', '--yes'], ['secret', 'rotate'], ['export']]) {
      const outcome = await client(...args, 'Twice');
      expectRefused(outcome, /2 applications are called "Twice": give the client_id of one of them/);
      for (const id of ids) expect(outcome.stderr).toContain(`error: ${id}\n`);
    }
    await client('delete', ids[0] ?? '', '--yes');
    expect(jsonOf(await client('show', 'Twice', '--json'))).toMatchObject({
      client_id: ids[1],
      disabled_at: null,
    });
  });

  it('prefers a client_id to a name', async () => {
    const id = await register('By its id');
    await register(id);
    expect(jsonOf(await client('show', id, '--json'))).toMatchObject({ name: 'By its id' });
  });

  it.each([
    ['an id that begins with a hyphen', '-1f', ['-1f']],
    ['an id that begins with two hyphens', '--json', ['--', '--json']],
  ])('accepts %s', async (_, id, given) => {
    await importClient(id, `Imported ${randomUUID()}`);
    expect(await actedOn(...given)).toEqual(Array.from({ length: COMMANDS }, () => id));
  });
});
