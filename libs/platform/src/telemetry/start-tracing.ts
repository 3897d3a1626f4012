import type { Tracing } from './tracing.js';

/** Starts tracing if OpenTelemetry's standard variables enable it. Loads OpenTelemetry's packages only then. */
export async function startTracing(service: string, env: NodeJS.ProcessEnv): Promise<Tracing | undefined> {
  if (!isEnabled(env)) return undefined;
  const { Tracing } = await import('./tracing.js');
  return new Tracing(env['OTEL_SERVICE_NAME'] || service);
}

function isEnabled(env: NodeJS.ProcessEnv): boolean {
  const exporter = env['OTEL_TRACES_EXPORTER'];
  if (exporter === 'none' || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  return Boolean(exporter || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
}
