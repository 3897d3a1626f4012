import { scopeFile } from '#oauth/scope-file.js';
import { main, runService } from '#platform/bootstrap/service.js';
import { readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { tokenApp } from './app.module.js';
import { TokenConfiguration } from './token.configuration.js';

main(async () => {
  const configuration = loadConfiguration(TokenConfiguration, process.env, [
    (settings) => readConfigurationFile(scopeFile(settings)),
  ]);
  return runService(tokenApp(configuration), ['postgres', 'redis', 'nats']);
});
