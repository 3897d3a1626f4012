import { main, runService } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { tokenApp } from './app.module.js';
import { TokenConfiguration } from './token.configuration.js';

main(async () =>
  runService(tokenApp(loadConfiguration(TokenConfiguration, process.env)), ['postgres', 'redis', 'nats']),
);
