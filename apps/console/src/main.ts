import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { consoleApp } from './app.module.js';
import { ConsoleConfiguration } from './console.configuration.js';

main(async () => {
  const configuration = loadConfiguration(ConsoleConfiguration, process.env);
  // Without NATS, most pages work, and the API answers 503.
  return runService(consoleApp(configuration), ['postgres', 'redis'], ['nats']);
});
