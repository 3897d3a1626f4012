import { loadConfiguration } from '#service/configuration/load-configuration.js';
import { main } from '#service/http/main.js';
import { runService } from '#service/http/service.js';
import { answerOverNats } from './answer-over-nats.js';
import { TokenConfiguration } from './token.configuration.js';
import { TokenModule } from './token.module.js';

main(() => {
  const configuration = loadConfiguration(TokenConfiguration, process.env);
  return runService(
    TokenModule.forRoot(configuration),
    configuration,
    answerOverNats(configuration.NATS_URL),
  );
});
