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

/** A server of the Model Context Protocol, as another team protects it with the introspection library. */
export async function startMcpApi(
  origin: string,
  { natsUrl, issuer }: { readonly natsUrl: string; readonly issuer: string },
): Promise<NestFastifyApplication> {
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';

  @Controller()
  class McpController {
    /** RFC 9728 2. The path is derived from the API's URL (3.1). */
    @Get(metadataPath)
    metadata(): object {
      return {
        resource: `${origin}/mcp`,
        authorization_servers: [issuer],
        // More than the tool requires; the challenge names the required scope.
        scopes_supported: ['profile:read', 'bookings:read'],
      };
    }

    /** Streamable HTTP without sessions: a server for each request. */
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

/** A server with one tool that returns the user, client and audience of the token. */
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
