import 'reflect-metadata';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { main } from '#platform/bootstrap/service.js';
import { createDemoApp } from './demo-app.js';
import { DemoConfiguration } from './demo.configuration.js';

main(async () => {
  const configuration = loadConfiguration(DemoConfiguration, process.env);
  const app = await createDemoApp(configuration);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
  await app.listen({ host: configuration.HOST, port: configuration.PORT });
});
