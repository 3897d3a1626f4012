import { startBackingServices } from '../servers/backing-services.js';

// Child process that starts the services and is killed by a test.
const [directory = '', persistent] = process.argv.slice(2);
const services = await startBackingServices({
  env: { PATH: process.env['PATH'] },
  directory,
  persistent: persistent === 'persistent',
  progress: () => undefined,
});
process.stdout.write(`${JSON.stringify(services)}\n`);
const reason = await services.died;
await services.stop();
process.stdout.write(`${reason}\n`);
process.exit(1);
