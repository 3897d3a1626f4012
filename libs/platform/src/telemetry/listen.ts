import { type TracingChannelSubscribers, tracingChannel } from 'node:diagnostics_channel';
import type { Call, CallChannel } from './calls.js';

/** Told when a call begins; what it returns is told how the call ended. */
export type BeginCall = (call: Call) => (failed: boolean) => void;

/**
 * Listens to a channel's calls.
 *
 * @returns ends the listening
 */
export function listen({ name, read }: CallChannel, begin: BeginCall): () => void {
  const channel = tracingChannel<unknown, object>(name);
  const ends = new WeakMap<object, (failed: boolean) => void>();
  const subscribers = {
    start: (message: object) => void ends.set(message, begin(read(message as never))),
    asyncStart: (message: object) => {
      ends.get(message)?.('error' in message);
      ends.delete(message);
    },
  };
  // All five are not needed, whatever the types of Node 20 say.
  channel.subscribe(subscribers as unknown as TracingChannelSubscribers<object>);
  return () => channel.unsubscribe(subscribers as unknown as TracingChannelSubscribers<object>);
}
