import { type AdminApi, startAdminApi } from '../support/start-console-app.js';
import { HOSTILE_NAME, stateOf, storeRequest } from '../support/stored-request.js';

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

afterAll(() => api.close());

it('the API lists, reads and approves a request of an application owner', async () => {
  const request = await storeRequest(api.console, { name: HOSTILE_NAME });
  const { body: queue } = await api.call('get', '/requests');
  expect(queue.items).toMatchObject([{ id: request.id, client_id: request.clientId, name: HOSTILE_NAME }]);
  const read = await api.call('get', `/requests/${request.id}`);
  expect(read.body).toMatchObject({ status: 'submitted', content: { purpose: 'Keeps <b>notes</b>' } });
  expect((read.body.findings as { id: string; text: string }[]).map(({ id }) => id)).toContain(
    'redirect_host_elsewhere',
  );
  const approve = (match?: string) =>
    api.call('post', `/requests/${request.id}/approve`, {
      body: { text: 'Welcome' },
      headers: match === undefined ? {} : { 'If-Match': match },
    });
  expect((await approve()).status).toBe(428);
  expect((await approve('"9999-AAAAAAAAAAAAAAAAAAAAAA"')).status).toBe(412);
  const approved = await approve(read.headers['etag']);
  expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
  expect(await stateOf(api.console, request)).toEqual({ status: 'approved', stage: 'live', disabled: false });
  expect((await approve(read.headers['etag'])).status).toBe(409);
  expect((await api.call('get', '/requests')).body.items).toEqual([]);
});

it('the API asks the owner, and rejects a request only with a text', async () => {
  const request = await storeRequest(api.console);
  const post = (step: string, body?: object) =>
    api.call('post', `/requests/${request.id}/${step}`, {
      ...(body && { body }),
      headers: { 'If-Match': '*' },
    });
  expect((await post('ask', { text: 'Who runs elsewhere.example?' })).body.status).toBe('question');
  expect((await post('reject', {})).status).toBe(400);
  expect((await post('reject', { text: '\u202egnp.exe' })).status).toBe(400);
  expect((await post('reject', { text: 'The host is not yours.' })).body.status).toBe('rejected');
  expect((await stateOf(api.console, request))?.disabled).toBe(true);
  expect((await post('reject', { text: 'Again.' })).status).toBe(409);
});

it('the API decides a request with admin:write only', async () => {
  const request = await storeRequest(api.console);
  const { accessToken: token } = await api.registerClient('admin:read');
  const call = (method: string, path = '') =>
    api.call(method, `/requests/${request.id}${path}`, { token, headers: { 'If-Match': '*' } });
  expect((await call('get')).status).toBe(200);
  expect((await call('post', '/approve')).status).toBe(403);
});

it('the API approves no change of the application by which operators log in', async () => {
  const callback = `${api.console.configuration.CONSOLE_URL}/login/callback`;
  const request = await storeRequest(api.console, { redirectUris: [callback] });
  const { accessToken: token } = await api.registerClient('admin:write');
  const call = { token, headers: { 'If-Match': '*' }, body: {} };
  const { status } = await api.call('post', `/requests/${request.id}/approve`, call);
  expect([status, (await stateOf(api.console, request))?.stage]).toEqual([403, 'testing']);
});
