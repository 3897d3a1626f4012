import { tracingChannel } from 'node:diagnostics_channel';

/** What is told of a request to the token app while it runs: never its payload. */
export interface NatsRequest {
  readonly subject: string;
  /** The message's headers: who follows requests from process to process adds its own (W3C `traceparent`). */
  readonly headers: { set(name: string, value: string): void };
}

/** Where whoever measures or follows requests hears of each. Nothing is told where nobody listens. */
export const NATS_REQUESTS = tracingChannel<unknown, NatsRequest>('scheduling-oauth:nats-request');
