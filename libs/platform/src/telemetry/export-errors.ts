import { diag, DiagLogLevel, type Exception } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';

/**
 * Logs OpenTelemetry's warnings without quoted text, because the collector's response may repeat the request with its
 * keys.
 */
export function logExportErrors(warn: (text: string) => void): void {
  const log = (text: string) => warn(withoutQuoted(text));
  const silent = () => undefined;
  diag.setLogger(
    { error: log, warn: log, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => warn(`the collector did not get everything: ${kindOf(error)}`));
}

function kindOf(error: Exception): string {
  if (typeof error === 'string') return withoutQuoted(error);
  return String(error.code ?? withoutQuoted(error.message ?? error.name ?? 'unknown error'));
}

function withoutQuoted(text: string): string {
  return text.replace(/['"].*['"]/s, '…');
}

export function resourceOf(service: string): Resource {
  return resourceFromAttributes({
    'service.name': service,
    'service.namespace': 'scheduling-oauth',
  }).merge(detectResources({ detectors: [envDetector] }));
}
