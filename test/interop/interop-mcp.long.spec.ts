import fastifyCors from '@fastify/cors';
import { All, Body, Controller, Get, Module, Req, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  CurrentToken,
  IntrospectionModule,
  RequireScope,
  ResourceMetadata,
  TokenGuard,
  type TokenInfo,
} from '#introspection/index.js';
import type { Browser, Page } from 'playwright-core';
import { ClientStore } from '#clients/client.store.js';
import { freePort } from '#local/servers/free-port.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { launchBrowser } from '../support/chromium.js';
import type { HttpServer } from '../support/http-server.js';
import { serveScriptPage } from '../support/script-page.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';

async function startMcpApi(
  origin: string,
  { natsUrl, issuer }: { readonly natsUrl: string; readonly issuer: string },
): Promise<NestFastifyApplication> {
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';

  @Controller()
  class McpController {
    /** Protected resource metadata (RFC 9728 2), at a path derived from the API's URL (RFC 9728 3.1). */
    @Get(metadataPath)
    metadata(): object {
      return {
        resource: `${origin}/mcp`,
        authorization_servers: [issuer],
        // Lists more scopes than the tool requires. The challenge names the required scope.
        scopes_supported: ['profile:read', 'bookings:read'],
      };
    }

    @All('mcp')
    @UseGuards(TokenGuard)
    @RequireScope('profile:read')
    @ResourceMetadata(metadataPath)
    async answer(
      @CurrentToken() token: TokenInfo,
      @Req() { method, url, headers }: FastifyRequest,
      @Body() body: unknown,
      @Res() reply: FastifyReply,
    ): Promise<void> {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await whoAmI(token).connect(transport);
      const request = new Request(new URL(url, origin), {
        method,
        headers: new Headers(Object.entries(headers) as [string, string][]),
      });
      const answer =
        method === 'POST'
          ? await transport.handleRequest(request, { parsedBody: body })
          : new Response(null, { status: 405 });
      await reply
        .status(answer.status)
        .headers(Object.fromEntries(answer.headers))
        .send(await answer.text());
    }
  }

  @Module({
    imports: [IntrospectionModule.forRoot({ natsUrl, resourceUrl: origin })],
    controllers: [McpController],
  })
  class McpApi {}

  const app = await NestFactory.create<NestFastifyApplication>(McpApi, new FastifyAdapter(), {
    logger: false,
  });
  await app.register(fastifyCors, { origin: '*', exposedHeaders: ['WWW-Authenticate'] });
  await app.listen(Number(new URL(origin).port), '127.0.0.1');
  return app;
}

function whoAmI({ userId, clientId, audience }: TokenInfo): Server {
  const server = new Server({ name: 'who-am-i', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'who_am_i', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: 'text', text: JSON.stringify({ userId, clientId, audience }) }],
  }));
  return server;
}

let product: RunningProduct;
let mcpApi: NestFastifyApplication;
let api: string;
let other: AppProcess;
let site: HttpServer;
let browser: Browser;
let page: Page;
let origin: string;
let clientId: string;
/** Errors of the browser, such as a request blocked by CORS. */
const problems: string[] = [];

beforeAll(async () => {
  const [sitePort, apiPort] = [await freePort(), await freePort()];
  site = await serveScriptPage('test/interop/mcp-page.mjs', { port: sitePort });
  [origin, api] = [`http://localhost:${sitePort}`, `http://localhost:${apiPort}`];
  const OTHER_API = 'https://other.example.com';
  product = await startProduct({ OTHER_API_URLS: `${api},${OTHER_API}` });
  const { natsUrl, run } = product;
  mcpApi = await startMcpApi(api, { natsUrl, issuer: run.base_url });
  // Runs in a separate process, because passport registers one strategy per name and process.
  other = await startApp('resource', { BASE_URL: run.base_url, API_URL: OTHER_API, NATS_URL: natsUrl });
  ({ clientId } = await withStores(product.databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'MCP page',
      type: 'public',
      scopes: ['profile:read', 'bookings:read'],
      redirectUris: [`${origin}/callback`],
    }),
  ));
  browser = await launchBrowser();
  page = await (await browser.newContext()).newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' && /CORS|blocked/i.test(message.text())) problems.push(message.text());
  });
});

afterAll(async () => {
  await browser.close();
  site.close();
  await mcpApi.close();
  await other.stop();
  await product.close();
});

const shown = async (): Promise<unknown> => {
  const output = page.locator('output:not(:empty)');
  await output.waitFor();
  const text = await output.textContent();
  try {
    return JSON.parse(text ?? '');
  } catch {
    return text;
  }
};
const tokens = () =>
  page.evaluate(() => JSON.parse(globalThis.localStorage.getItem('tokens') ?? '{}')) as Promise<{
    access_token: string;
    refresh_token: string;
  }>;

// @rfc 9728 3 @rfc 8707 2.1 @rfc 8707 2.2
describe('the MCP TypeScript SDK in a browser', () => {
  it('discovers the authorization server and calls the API with a token for the API', async () => {
    const authorized = page.waitForRequest((request) => request.url().includes('/auth/oauth2/authorize'));
    await page.goto(
      `${origin}/?${new URLSearchParams({ api: `${api}/mcp`, client_id: clientId }).toString()}`,
    );
    const requested = new URL((await authorized).url()).searchParams;
    expect(Object.fromEntries(requested)).toMatchObject({
      client_id: clientId,
      resource: `${api}/mcp`,
      code_challenge_method: 'S256',
      scope: 'profile:read',
    });
    await page.locator('#username').fill(product.run.user.email);
    await page.locator('#password').fill(product.run.user.password);
    await page.keyboard.press('Enter');
    await page.locator('button[value=allow]').click();
    await page.waitForURL(`${origin}/callback?**`);
    expect(await shown()).toEqual({ userId: 1, clientId, audience: [api] });
    expect(problems).toEqual([]);
  });

  it('gets a new token for the API when the API rejects a token', async () => {
    const before = await tokens();
    await page.evaluate(() => {
      const kept = JSON.parse(globalThis.localStorage.getItem('tokens') ?? '{}') as object;
      globalThis.localStorage.setItem('tokens', JSON.stringify({ ...kept, access_token: 'sat_unknown' }));
    });
    await page.goto(origin);
    expect(await shown()).toEqual({ userId: 1, clientId, audience: [api] });
    const { access_token, refresh_token } = await tokens();
    expect([before.access_token, 'sat_unknown']).not.toContain(access_token);
    expect(refresh_token).not.toBe(before.refresh_token);
    expect(problems).toEqual([]);
  });

  it('gets a token that other APIs reject', async () => {
    const { access_token } = await tokens();
    const call = (url: string, path: string) =>
      fetch(url + path, { headers: { Authorization: `Bearer ${access_token}` } });
    expect((await call(api, '/mcp')).status).toBe(405);
    const refused = await call(other.url, '/v2/me');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });
});
