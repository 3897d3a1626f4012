import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { ConfigurationError } from './load-configuration.js';
import { StatusReport } from '../status/status-report.js';
import { Metrics } from '../telemetry/metrics.js';

export interface ConfigurationFile<T> {
  readonly variable: string;
  readonly path: string;
  /** SHA-256 of the content, in hexadecimal. */
  readonly digest: string;
  readonly value: T;
}

export interface FileSource<T> {
  readonly variable: string;
  readonly path: string;
  /** May throw an error whose `problems` lists every mistake in the file. */
  readonly parse: (content: Buffer) => T;
}

const MAX_BYTES = 256 * 1024;

/** @throws ConfigurationError listing every problem */
export function readConfigurationFile<T>({ variable, path, parse }: FileSource<T>): ConfigurationFile<T> {
  const name = resolve(path);
  try {
    const content = readFileSync(name);
    if (content.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} KiB`);
    const digest = createHash('sha256').update(content).digest('hex');
    return { variable, path: name, digest, value: parse(content) };
  } catch (error) {
    const { message, problems = [message] } = error as Error & { problems?: readonly string[] };
    throw new ConfigurationError(problems.map((problem) => `${variable} ${name}: ${problem}`));
  }
}

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
