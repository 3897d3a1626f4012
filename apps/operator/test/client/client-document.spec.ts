import { startDocumentHost } from '#test/support/document-host.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const host = await startDocumentHost();
const operator = useOperator();
afterAll(() => host.close());

const client = (...args: string[]) =>
  operator.run(['client', ...args], { ...operator.env, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
const create = (url: string, ...args: string[]) => client('create', '--metadata-url', url, ...args);
const created = async (members: object = {}, ...args: string[]): Promise<string> => {
  const url = host.publish(host.newUrl(), members);
  expect(jsonOf(await create(url, ...args, '--json'))).toMatchObject({ client_id: url, client_secret: null });
  return url;
};

// @client metadata document 8.2
describe('operator client create --metadata-url', () => {
  it('registers the application that the document describes, with the scopes that the operator gives', async () => {
    const url = await created({ scope: 'bookings:read' }, '--scope', 'profile:read');
    expect(jsonOf(await client('show', url, '--json'))).toMatchObject({
      name: 'Inspector',
      type: 'public',
      auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/callback'],
      scopes: ['profile:read'],
      require_state: false,
      document_problem: null,
    });
  });

  it('refuses an invalid document with the reason, and creates nothing', async () => {
    const url = host.publish(host.newUrl(), { redirect_uris: ['http://app.example.com/'] });
    expectRefused(await create(url), /redirect_uris/);
    expectRefused(await client('show', url), /no client/);
  });

  it.each<[string, string[], RegExp]>([
    ['with a fragment', ['https://app.example.com/a#b'], /fragment/],
    ['together with --name', ['https://app.example.com/a', '--name', 'Other'], /name/],
    // @client metadata document 9.6
    ['in a private network', ['https://10.0.0.1/client.json'], /not public/],
  ])('refuses a URL %s', async (_what, [url = '', ...args], reason) => {
    expectRefused(await create(url, ...args), reason);
  });

  it('refuses an application that is registered or was deleted', async () => {
    const url = await created();
    expectRefused(await create(url), /registered already/);
    await client('delete', url, '--yes');
    expectRefused(await create(url), /was deleted/);
  });
});

describe('an application with a metadata document', () => {
  it('is listed, disabled and enabled like any other application', async () => {
    const url = await created();
    expect((await client('list')).stdout).toContain(url);
    expect(jsonOf(await client('disable', url, '--json'))).toMatchObject({ disabled: true });
    expect(jsonOf(await client('enable', url, '--json'))).toMatchObject({ disabled: false });
  });

  it('permits changes to its scopes and rules, but not to values in the document or the first-party status', async () => {
    const url = await created();
    for (const change of [
      ['--name', 'Other'],
      ['--add-redirect-uri', 'https://app.example.com/'],
      ['--private-scheme', 'cursor'],
      ['--first-party', 'true'],
      ['--jwks-uri', 'https://app.example.com/jwks.json'],
    ])
      expectRefused(await client('update', url, ...change), /metadata document/);
    const changed = await client('update', url, '--scope', 'profile:read', '--require-par', 'true', '--json');
    expect(jsonOf(changed)).toMatchObject({ scopes: ['profile:read'], require_par: true });
  });

  it('is not exported', async () => {
    const url = await created();
    expect((await client('export')).stdout).not.toContain(url);
  });
});
