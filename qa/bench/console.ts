import { parseOptions, runTool, UsageError } from '../command.js';

const USAGE = `npm run bench:console [-- --clients 100000 --grants 100000 --events 10000000]

Registers applications with owners, and users who each have a grant of the first application, stores events of 30 days and as many
changes of applications, waits until the console has indexed them, and then measures every page of the console and of the portal
for owners, and their memory. It takes about half an hour and 10 GB of disk. Nothing
else should run on the machine while it measures.

  --clients  applications, at least 1000 (100000)
  --grants   grants, and users, at least 1000 (100000)
  --events   events of the audit trail, at least 10000 (10000000)
  --portal   only the pages of the portal, with counts in place of the events of the audit trail
  --only     measures only the pages whose name contains this text
  --wait     waits for a line on standard input before it measures
  --help     shows this
`;

function readOptions() {
  const { clients, grants, events, ...options } = parseOptions({
    clients: '100000',
    grants: '100000',
    events: '10000000',
    portal: false,
    only: '',
    wait: false,
  });
  const trail = { clients: Number(clients), users: Number(grants), events: Number(events) };
  if (!(trail.clients >= 1_000 && trail.users >= 1_000 && trail.events >= 10_000))
    throw new UsageError('give at least 1000 clients, 1000 grants and 10000 events');
  return { ...options, trail };
}

await runTool(USAGE, readOptions, async (options) => {
  // Imported on demand, because it loads most of the product.
  const { benchPages } = await import('./bench-pages.js');
  return benchPages(options);
});
