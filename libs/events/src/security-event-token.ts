import { type SubjectRule, subjectOf } from '#oauth/openid/id-token.js';
import type { StoredEvent } from './event.store.js';
import { type SecurityEventType, uriOf } from './event-type.js';

/** `typ` of the header (RFC 8417 2.3). */
export const SECURITY_EVENT_TOKEN_TYPE = 'secevent+jwt';

export type SecurityEvent = Pick<StoredEvent, 'jti' | 'userId' | 'details' | 'txn' | 'createdAt'> & {
  readonly type: SecurityEventType;
};

/** Client of a stream, with its rule for subjects. */
export interface EventReceiver extends SubjectRule {
  readonly clientId: string;
  readonly streamId: string;
}

/**
 * Claims of a security event token (RFC 8417 2.2), which has no `exp` and no `sub` (section 4.1 of SSF 1.0). They are
 * the same in every attempt. CAEP events have the time of the event in seconds (section 2 of CAEP 1.0).
 */
export function securityEventClaims(event: SecurityEvent, receiver: EventReceiver, issuer: string) {
  const sub = event.userId === null ? receiver.clientId : subjectOf(receiver, event.userId);
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
      : { format: 'iss_sub', iss: issuer, sub },
    events: {
      [uri]: {
        ...(uri.includes('/secevent/caep/') && { event_timestamp: time }),
        ...(event.type === 'credential-change' && { credential_type: 'password' }),
        ...event.details,
      },
    },
  };
}
