import { scopeFile } from '#oauth/scope-file.js';
import { main, runService } from '#platform/bootstrap/service.js';
import { readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { resourceApp } from './app.module.js';
import { ResourceConfiguration } from './resource.configuration.js';

main(async () => {
  const configuration = loadConfiguration(ResourceConfiguration, process.env, [
    (settings) => readConfigurationFile(scopeFile(settings)),
  ]);
  return runService(resourceApp(configuration), ['nats']);
});
