import type { LogExport } from './log-export.js';

/**
 * Starts the export of logs if OpenTelemetry's standard variable has its endpoint. The variable of all signals does not
 * enable it, because a collector of traces must not get the audit trail. Loads OpenTelemetry's packages only then.
 */
export async function startLogExport(service: string, env: NodeJS.ProcessEnv): Promise<LogExport | null> {
  const isOff = env['OTEL_LOGS_EXPORTER'] === 'none' || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (isOff || !env['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT']) return null;
  const { LogExport } = await import('./log-export.js');
  return new LogExport(env['OTEL_SERVICE_NAME'] || service);
}
