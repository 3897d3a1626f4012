import type { IncomingMessage } from 'node:http';

const outcomes = new WeakMap<IncomingMessage, Record<string, unknown>>();

/** Adds to what the request's one log line will say. Never hand it a token, code, secret, cookie or body. */
export function noteOutcome(request: IncomingMessage, facts: Readonly<Record<string, unknown>>): void {
  outcomes.set(request, { ...outcomes.get(request), ...facts });
}

/** What has been noted of a request so far. */
export function outcomeOf(request: IncomingMessage): Readonly<Record<string, unknown>> {
  return outcomes.get(request) ?? {};
}
