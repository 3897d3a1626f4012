import { diag, DiagLogLevel, type Exception } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';

/**
 * Has what OpenTelemetry complains of told without what it quotes: its own words for a refused export are the collector's
 * whole answer, and those send back what they were sent, keys included.
 */
export function tellTroubles(warn: (text: string) => void): void {
  const tell = (text: string) => warn(withoutQuoted(text));
  const silent = () => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => warn(`spans were not taken: ${kindOf(error)}`));
}

/** The status of the collector's answer, or the system's name for why there is none. */
function kindOf(error: Exception): string {
  if (typeof error === 'string') return withoutQuoted(error);
  return String(error.code ?? withoutQuoted(error.message ?? error.name ?? 'no reason was given'));
}

function withoutQuoted(text: string): string {
  return text.replace(/['"].*['"]/s, '…');
}
