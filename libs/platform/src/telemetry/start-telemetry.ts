import type { LogExport } from './log-export.js';
import type { Tracing } from './tracing.js';

type Environment = NodeJS.ProcessEnv;

/** Starts tracing if OpenTelemetry's standard variables enable it. Loads OpenTelemetry's packages only then. */
export async function startTracing(service: string, env: Environment): Promise<Tracing | undefined> {
  const exporter = env['OTEL_TRACES_EXPORTER'];
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (exporter === 'none' || isSdkDisabled(env) || !(exporter || endpoint)) return undefined;
  const { Tracing } = await import('./tracing.js');
  return new Tracing(env['OTEL_SERVICE_NAME'] || service);
}

/**
 * Starts the export of logs if OpenTelemetry's standard variable has its endpoint. The variable of all signals does not
 * enable it, because a collector of traces must not get the audit trail. Loads OpenTelemetry's packages only then.
 */
export async function startLogExport(service: string, env: Environment): Promise<LogExport | null> {
  const isOff = env['OTEL_LOGS_EXPORTER'] === 'none' || isSdkDisabled(env);
  if (isOff || !env['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT']) return null;
  const { LogExport } = await import('./log-export.js');
  return new LogExport(env['OTEL_SERVICE_NAME'] || service);
}

const isSdkDisabled = (env: Environment): boolean => env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
