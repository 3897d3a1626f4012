import { randomBytes } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isId, isUserId } from '../contract.js';
import { isObject, MalformedMessageError } from '../nats-message.js';

/** Services that end sessions. NATS permissions restrict each service to its own subject. */
export type LogoutSource = 'authorize' | 'token' | 'operator';

/** End of one session, or of every session of a user. */
export interface SessionsEnded {
  /** Random id. Also sent as Nats-Msg-Id, so that NATS drops duplicates. */
  readonly id: string;
  /** Id of the session, as stored with grants; absent if every session of the user has ended. */
  readonly session?: string;
  readonly user_id?: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface LogoutDelivery {
  /** `jti` of the logout token, the same in every attempt. */
  readonly id: string;
  readonly client_id: string;
  readonly user_id: number;
  /** Absent if the logout token is for every session of the user. */
  readonly session?: string;
  readonly at: number;
}

export const LOGOUT_STREAM = 'OAUTH_LOGOUT';

export const LOGOUT_SUBJECTS = {
  ended: (service: LogoutSource) => `oauth.logout.ended.${service}`,
  delivery: 'oauth.logout.delivery.token',
} as const;

export const LOGOUT_CONSUMERS = {
  ended: { name: 'ended', subject: 'oauth.logout.ended.*' },
  delivery: { name: 'delivery', subject: LOGOUT_SUBJECTS.delivery },
} as const;

/** Maximum age of a log-out in milliseconds. Logout tokens of older log-outs are dropped. */
export const DELIVERY_LIMIT_MS = 60 * 60_000;

/** Milliseconds after which NATS redelivers a message, unless the receiver has reported progress. */
export const ACK_WAIT_MS = 30_000;

const TIMEOUT_MS = 2_000;

/** Waits until NATS has stored the message. @throws Error if NATS does not confirm the message */
export async function storeLogout(
  nats: NatsConnection,
  subject: string,
  message: SessionsEnded | LogoutDelivery,
): Promise<void> {
  const client = jetstream(nats, { timeout: TIMEOUT_MS });
  await client.publish(subject, JSON.stringify(message), { msgID: message.id });
}

export function sessionsEnded(
  ended: { readonly session: string } | { readonly user_id: number },
  at = Date.now(),
): SessionsEnded {
  return { id: randomBytes(16).toString('base64url'), ...ended, at };
}

/** Rejects ids that PostgreSQL cannot look up, which would cause retries until expiry. @throws MalformedMessageError */
export function parseSessionsEnded(message: unknown): SessionsEnded {
  if (
    isObject(message) &&
    isId(message['id']) &&
    Number.isSafeInteger(message['at']) &&
    (message['session'] === undefined ? isUserId(message['user_id']) : isId(message['session']))
  )
    return message as unknown as SessionsEnded;
  throw new MalformedMessageError('it does not match the contract');
}

/** @throws MalformedMessageError */
export function parseLogoutDelivery(message: unknown): LogoutDelivery {
  if (
    isObject(message) &&
    [message['id'], message['client_id']].every(isId) &&
    isUserId(message['user_id']) &&
    Number.isSafeInteger(message['at']) &&
    (message['session'] === undefined || isId(message['session']))
  )
    return message as unknown as LogoutDelivery;
  throw new MalformedMessageError('it does not match the contract');
}
