import { type SubjectRule, subjectOf } from '#oauth/openid/id-token.js';
import { type SecurityEventType, uriOf } from './event-type.js';

/** `typ` of the header (RFC 8417 2.3). */
export const SECURITY_EVENT_TOKEN_TYPE = 'secevent+jwt';

export interface SecurityEvent {
  readonly jti: string;
  readonly type: SecurityEventType;
  /** Null for an event about the client or its stream. */
  readonly userId: number | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly txn: string;
  readonly createdAt: Date;
}

/** Client of a stream, with its rule for subjects. */
export interface EventReceiver extends SubjectRule {
  readonly clientId: string;
  readonly streamId: string;
}

/** Claims of a security event token (RFC 8417 2.2), which has no `exp` and no `sub` (section 4.1 of SSF 1.0). */
export interface SecurityEventClaims {
  readonly iss: string;
  readonly aud: string;
  readonly iat: number;
  readonly jti: string;
  readonly txn: string;
  readonly sub_id: Readonly<Record<string, string>>;
  readonly events: Readonly<Record<string, object>>;
}

/**
 * The claims are the same in every attempt. CAEP events have the time of the event in seconds (section 2 of CAEP 1.0).
 */
export function securityEventClaims(
  event: SecurityEvent,
  receiver: EventReceiver,
  issuer: string,
): SecurityEventClaims {
  const uri = uriOf(event.type);
  const time = Math.floor(event.createdAt.getTime() / 1000);
  const isAboutStream = uri.includes('/secevent/ssf/');
  return {
    iss: issuer,
    aud: receiver.clientId,
    iat: time,
    jti: event.jti,
    txn: event.txn,
    sub_id: isAboutStream
      ? { format: 'opaque', id: receiver.streamId }
      : { format: 'iss_sub', iss: issuer, sub: eventSubject(receiver, event.userId) },
    events: {
      [uri]: {
        ...(uri.includes('/secevent/caep/') && { event_timestamp: time }),
        ...(event.type === 'credential-change' && { credential_type: 'password' }),
        ...event.details,
      },
    },
  };
}

/** Returns the user's `sub` for this client, or the client's id for an event about the client. */
export function eventSubject(receiver: EventReceiver, userId: number | null): string {
  return userId === null ? receiver.clientId : subjectOf(receiver, userId);
}
