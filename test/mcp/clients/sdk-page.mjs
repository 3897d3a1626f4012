// A page that calls `list_bookings`. Its first URL contains the server and the client's metadata document.
import { createProvider } from './sdk-provider.mjs';

const { document, localStorage, location } = globalThis;
const storage = {
  get: (name) => JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined,
  set: (name, value) => localStorage.setItem(name, JSON.stringify(value)),
};
const here = new URL(location);
for (const name of ['server', 'document'])
  if (here.searchParams.has(name)) storage.set(name, here.searchParams.get(name));

const server = new URL(storage.get('server'));
const provider = createProvider({
  redirectUrl: `${location.origin}/callback`,
  clientMetadataUrl: storage.get('document'),
  storage,
  redirect: (url) => location.assign(url.href),
});

async function run() {
  if (here.searchParams.has('code')) await provider.finish(server, here);
  return provider.callTool(server, 'list_bookings', {});
}

run().then(
  (text) => document.querySelector('output').append(text ?? ''),
  (error) => document.querySelector('output').append(String(error)),
);
