import { debianServer } from '../servers/debian-package.js';

// Child process that unpacks a package and is killed by a test.
const [folder = ''] = process.argv.slice(2);
await debianServer('nats-server', folder, { user: undefined, env: process.env, progress: () => undefined });
