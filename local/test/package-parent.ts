import { debianServer } from '../servers/debian-package.js';

// A process of its own that unpacks a package, to be killed by a test.
const [folder = ''] = process.argv.slice(2);
await debianServer('nats-server', folder, { user: undefined, env: process.env, progress: () => undefined });
