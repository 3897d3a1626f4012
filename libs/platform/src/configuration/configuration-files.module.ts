import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { StatusReport } from '../status/status-report.js';
import { Metrics } from '../telemetry/metrics.js';
import type { ConfigurationFile } from './configuration-file.js';

abstract class Files {
  abstract readonly files: readonly ConfigurationFile<unknown>[];
}

/** Reports the digest of each file, which must be equal in all processes, in the log, a metric and the status. */
@Injectable()
class ConfigurationFileReport {
  constructor({ files }: Files, metrics: Metrics, status: StatusReport) {
    const logger = new Logger('Configuration');
    const gauge = metrics.gauge(
      'oauth_configuration_file_info',
      'SHA-256 of each file that the process read at startup; always 1',
      ['variable', 'sha256'],
    );
    for (const { variable, path, digest } of files) {
      logger.log(`${variable} ${path}, sha256 ${digest}`);
      gauge.set({ variable, sha256: digest }, 1);
      status.addSetting(variable, `sha256 ${digest}`);
    }
  }
}

@Module({})
export class ConfigurationFilesModule {
  static forRoot(files: readonly ConfigurationFile<unknown>[]): DynamicModule {
    return {
      module: ConfigurationFilesModule,
      providers: [{ provide: Files, useValue: { files } }, ConfigurationFileReport],
    };
  }
}
