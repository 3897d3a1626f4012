import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type AnyValueMap, type Logger as LogEmitter, SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonLogsSerializer, LogsExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { BatchLogRecordProcessor, LoggerProvider, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { logExportErrors, resourceOf } from './export-errors.js';

/** Limits the time for which an unavailable collector delays the end of a process. */
const FLUSH_TIMEOUT_MS = 2_000;

export interface ExportedLog {
  /** Identifies the record, so that a reader can drop duplicates. */
  readonly id: string;
  readonly name: string;
  readonly time: string;
  readonly isWarning: boolean;
  readonly body: object;
}

/**
 * Exports log records by OTLP over HTTP, as OpenTelemetry's standard variables configure. Emitting never waits: the
 * processor has a bounded queue, and drops records while the collector does not accept them.
 */
export class LogExport {
  private readonly provider: LoggerProvider;
  private readonly logger: LogEmitter;

  constructor(service: string) {
    const log = new Logger('LogExport');
    logExportErrors((text) => log.warn(text));
    const options = convertLegacyHttpOptions({}, 'LOGS', 'v1/logs', { 'Content-Type': 'application/json' });
    const exporter = new OTLPExporterBase<ReadableLogRecord[]>(
      createOtlpHttpExportDelegate(
        options,
        JsonLogsSerializer,
        'otlp_http_log_exporter',
        LogsExporterMetricsHelper,
        undefined,
      ),
    );
    this.provider = new LoggerProvider({
      resource: resourceOf(service),
      processors: [new BatchLogRecordProcessor({ exporter })],
    });
    this.logger = this.provider.getLogger('scheduling-oauth');
  }

  emit({ id, name, time, isWarning, body }: ExportedLog): void {
    this.logger.emit({
      eventName: name,
      timestamp: new Date(time),
      severityNumber: isWarning ? SeverityNumber.WARN : SeverityNumber.INFO,
      severityText: isWarning ? 'WARN' : 'INFO',
      body: body as AnyValueMap,
      attributes: { 'log.record.uid': id },
    });
  }

  /** Waits until the collector has the records, but at most FLUSH_TIMEOUT_MS. */
  async flush(): Promise<void> {
    const sent = this.provider.forceFlush().catch(() => undefined);
    await Promise.race([sent, sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
  }
}
