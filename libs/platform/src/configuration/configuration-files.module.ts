import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { StatusReport } from '../status/status-report.js';
import { Metrics } from '../telemetry/metrics.js';
import type { ConfigurationFile } from './configuration-file.js';

abstract class Files {
  abstract readonly files: readonly ConfigurationFile<unknown>[];
}

/** Shows by a log line, a metric and the status which version of each file a process has read: all processes must have the same. */
@Injectable()
class ConfigurationFileReport {
  constructor({ files }: Files, metrics: Metrics, status: StatusReport) {
    const logger = new Logger('Configuration');
    const gauge = metrics.gauge(
      'oauth_configuration_file_info',
      'The SHA-256 of each file that the process read at its start; always 1',
      ['variable', 'sha256'],
    );
    for (const { variable, path, digest } of files) {
      logger.log(`${variable} ${path}, sha256 ${digest}`);
      gauge.set({ variable, sha256: digest }, 1);
      status.addSetting(variable, `sha256 ${digest}`);
    }
  }
}

/** Reports the files of a process's configuration. */
@Module({})
export class ConfigurationFilesModule {
  static forRoot(files: readonly ConfigurationFile<unknown>[]): DynamicModule {
    return {
      module: ConfigurationFilesModule,
      providers: [{ provide: Files, useValue: { files } }, ConfigurationFileReport],
    };
  }
}
