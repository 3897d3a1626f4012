import { tracingChannel } from 'node:diagnostics_channel';
import type { PreRequestHook } from '@nestjs/common';
import type { NatsContext } from '@nestjs/microservices';
import { defer, lastValueFrom } from 'rxjs';

interface Answer {
  readonly subject: string;
  readonly headers: unknown;
}

const ANSWERS = tracingChannel<unknown, Answer>('scheduling-oauth:nats-response');

/** Tells whoever measures or follows requests of each that is answered over NATS; never its payload. */
export const announceRequests: PreRequestHook = (execution, next) => {
  const nats = execution.switchToRpc().getContext<NatsContext>();
  const answer = { subject: nats.getSubject(), headers: nats.getHeaders() as unknown };
  return defer(() => ANSWERS.tracePromise(() => lastValueFrom(next()), answer));
};
