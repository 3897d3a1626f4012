import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { resourceApp } from './app.module.js';
import { ResourceConfiguration } from './resource.configuration.js';

main(async () => {
  const configuration = loadConfiguration(ResourceConfiguration, process.env, [({ scopes }) => scopes]);
  return runService(resourceApp(configuration), ['nats']);
});
