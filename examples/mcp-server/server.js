// An MCP server (streamable HTTP) whose tools act for a user who has granted access.
import {
  createMcpExpressApp,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
  requireBearerAuth,
} from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import cors from 'cors';
import { bookingTools } from './booking-tools.js';
import { introspection } from './introspection.js';

const {
  ISSUER = 'http://localhost:3002',
  RESOURCE_SERVER_ID: id,
  RESOURCE_SERVER_SECRET: secret,
} = process.env;
const {
  SERVER_URL = 'http://localhost:3030/mcp',
  HOST = '127.0.0.1',
  PORT = new URL(SERVER_URL).port,
} = process.env;
if (!id || !secret) {
  console.error('RESOURCE_SERVER_ID and RESOURCE_SERVER_SECRET are not set: docs/mcp.md has the commands.');
  process.exit(1);
}

const url = new URL(SERVER_URL);
const issuerMetadata = await fetch(`${ISSUER}/.well-known/oauth-authorization-server`).then((found) =>
  found.json(),
);

// The challenge to a request without a token contains the metadata URL and these scopes (RFC 9728, RFC 6750).
const scopes = ['bookings:read'];
const authenticate = requireBearerAuth({
  verifier: introspection({
    endpoint: issuerMetadata.introspection_endpoint,
    id,
    secret,
    audience: url.origin,
  }),
  requiredScopes: scopes,
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
});

const app = createMcpExpressApp({ allowedHosts: [url.hostname] });
app.use(
  mcpAuthMetadataRouter({ oauthMetadata: issuerMetadata, resourceServerUrl: url, scopesSupported: scopes }),
);
const mcp = toNodeHandler(createMcpHandler(bookingTools));
// Exposes the challenge to clients in a browser.
app.all(url.pathname, cors({ exposedHeaders: ['WWW-Authenticate'] }), authenticate, (req, res) =>
  mcp(req, res, req.body),
);
app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  console.log(SERVER_URL);
});
