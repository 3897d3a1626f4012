import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { main } from '#platform/http/main.js';
import { runService } from '#platform/http/service.js';
import { ResourceConfiguration } from './resource.configuration.js';
import { configureResource, ResourceModule } from './resource.module.js';

main(async () => {
  const configuration = loadConfiguration(ResourceConfiguration, process.env);
  return runService({
    name: 'resource',
    needs: ['nats'],
    module: ResourceModule.forRoot(configuration),
    configuration,
    configure: configureResource,
  });
});
