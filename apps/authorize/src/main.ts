import 'reflect-metadata';
import { loadConfiguration } from '#service/configuration/load-configuration.js';
import { main } from '#service/http/main.js';
import { runService } from '#service/http/service.js';
import { AuthorizeConfiguration } from './authorize.configuration.js';
import { AuthorizeModule } from './authorize.module.js';

main(async () => {
  const configuration = loadConfiguration(AuthorizeConfiguration, process.env);
  return runService({
    name: 'authorize',
    needs: ['postgres', 'redis'],
    module: AuthorizeModule.forRoot(configuration),
    configuration,
  });
});
