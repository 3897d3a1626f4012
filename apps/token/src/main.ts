import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { main } from '#platform/http/main.js';
import { runService } from '#platform/http/service.js';
import { configureToken } from './configure-token.js';
import { TokenConfiguration } from './token.configuration.js';
import { TokenModule } from './token.module.js';

main(async () => {
  const configuration = loadConfiguration(TokenConfiguration, process.env);
  return runService({
    name: 'token',
    needs: ['postgres', 'redis', 'nats'],
    module: TokenModule.forRoot(configuration),
    configuration,
    configure: configureToken(configuration),
  });
});
