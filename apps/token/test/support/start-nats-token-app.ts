import { randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { isolate } from '#test/support/isolate.js';

const { introspect, consumeProof, profile, applyRevocations } = SUBJECTS;

export const REQUESTS = [introspect, consumeProof, profile, applyRevocations];

interface Reply {
  readonly response?: unknown;
  readonly err?: { readonly status: string; readonly message: string };
  readonly id?: unknown;
}

export interface NatsTokenApp {
  readonly app: AppProcess;
  readonly nats: NatsConnection;
  /** Sends a request. The timeout is long for busy machines. */
  send(subject: string, payload: string | Uint8Array): Promise<Reply>;
  /** Resolves when the responder has handled all messages that were sent before the call. */
  seen(): Promise<Reply>;
  close(): Promise<void>;
}

export const packet = (subject: string, data: unknown, id: unknown = '1'): string =>
  JSON.stringify({ pattern: subject, data, id });

export async function startNatsTokenApp(env: Readonly<Record<string, string>> = {}): Promise<NatsTokenApp> {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const app = await startApp('token', { ...appSettings(services), TOKEN_KEYS, ...env });
  const nats = await connect(natsOptions(services.natsUrl, 'test'));
  const send = async (subject: string, payload: string | Uint8Array): Promise<Reply> =>
    (await nats.request(subject, payload, { timeout: 60_000 })).json();
  return {
    app,
    nats,
    send,
    seen: () => send(introspect, packet(introspect, { token: 'none' })),
    async close() {
      await nats.close();
      await app.stop();
      await services.close();
    },
  };
}
