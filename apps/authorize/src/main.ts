import 'reflect-metadata';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { main } from '#platform/http/main.js';
import { runService } from '#platform/http/service.js';
import { AuthorizeConfiguration } from './authorize.configuration.js';
import { AppModule } from './app.module.js';

main(async () => {
  const configuration = loadConfiguration(AuthorizeConfiguration, process.env);
  return runService({
    name: 'authorize',
    needs: ['postgres', 'redis'],
    module: AppModule.forRoot(configuration),
    configuration,
  });
});
