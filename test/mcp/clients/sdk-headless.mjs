// Calls tools in order. Prints the authorization URL if the user must consent, and one line of JSON per result.
// Arguments: server, port of the redirect URI, metadata document of the client, names of the tools.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createProvider } from './sdk-provider.mjs';

const [server, port, clientMetadataUrl, ...tools] = process.argv.slice(2);
const redirectUrl = `http://127.0.0.1:${port}/callback`;
const kept = new Map();
const provider = createProvider({
  redirectUrl,
  clientMetadataUrl,
  storage: kept,
  redirect: (url) => process.stderr.write(`${url.href}\n`),
});
const listener = createServer().listen(Number(port), '127.0.0.1');
for (const tool of tools) {
  let text = await provider.callTool(new URL(server), tool, { title: 'Dentist' });
  if (text === undefined) {
    const [request, response] = await once(listener, 'request');
    response.end();
    await provider.finish(new URL(server), new URL(request.url, redirectUrl));
    text = await provider.callTool(new URL(server), tool, { title: 'Dentist' });
  }
  process.stdout.write(`${JSON.stringify({ tool, text })}\n`);
}
process.exit();
