import type { LogExport } from '#platform/telemetry/log-export.js';
import type { AuditEvent } from './event.js';

/** Emits an event as a log record. @param line the event as the trail stores it */
export function exportEvent(logs: LogExport, line: string): void {
  const event = JSON.parse(line) as AuditEvent;
  const { id, type, time, error, check } = event;
  const isWarning = error !== undefined || check !== undefined || type === 'token.reuse_detected';
  logs.emit({ id, name: type, time, isWarning, body: event });
}
