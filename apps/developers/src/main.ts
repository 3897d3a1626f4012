import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { developersApp } from './app.module.js';
import { DevelopersConfiguration } from './developers.configuration.js';

main(async () => {
  const configuration = loadConfiguration(DevelopersConfiguration, process.env);
  return runService(developersApp(configuration), ['postgres', 'redis'], ['nats']);
});
