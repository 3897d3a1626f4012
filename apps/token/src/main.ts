import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { tokenApp } from './app.module.js';
import { TokenConfiguration } from './token.configuration.js';

main(async () => {
  const configuration = loadConfiguration(TokenConfiguration, process.env, [({ scopes }) => scopes]);
  return runService(tokenApp(configuration), ['postgres', 'redis', 'nats']);
});
