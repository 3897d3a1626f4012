// Tools for the bookings of the user who granted the token.
import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import { z } from 'zod';

const bookings = new Map();

/** Creates an MCP server for one request. */
export function bookingTools() {
  const server = new McpServer({ name: 'bookings', version: '1.0.0' });

  server.registerTool('list_bookings', { description: 'Lists your bookings' }, ({ http }) =>
    answer(bookings.get(userOf(http)) ?? []),
  );

  server.registerTool(
    'create_booking',
    {
      description: 'Creates a booking',
      inputSchema: z.object({ title: z.string().min(1) }),
      // Without `bookings:write` the client gets 403 and requests more access. The challenge lists the scopes.
      scopeChallenge: requireScopes('bookings:read', 'bookings:write'),
    },
    ({ title }, { http }) => {
      const own = [...(bookings.get(userOf(http)) ?? []), { title, by: http.authInfo.clientId }];
      bookings.set(userOf(http), own);
      return answer(own);
    },
  );
  return server;
}

const userOf = ({ authInfo }) => authInfo.extra.userId;

const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
