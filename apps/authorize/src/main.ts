import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { authorizeApp } from './app.module.js';
import { AuthorizeConfiguration } from './configuration/authorize.configuration.js';

main(async () => {
  const configuration = loadConfiguration(AuthorizeConfiguration, process.env, [
    ({ brand }) => brand,
    ({ scopes }) => scopes,
  ]);
  return runService(authorizeApp(configuration), ['postgres', 'redis']);
});
