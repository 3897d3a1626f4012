// Starts PostgreSQL, Redis and NATS once for all workers. Jest loads this file without compilation.
import './register-typescript.mjs';

const { startTestServices } = await import('../support/test-run.ts');

export default async function globalSetup() {
  globalThis.endTestServices = await startTestServices();
}
