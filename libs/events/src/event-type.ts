const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
const OAUTH = 'https://schemas.openid.net/secevent/oauth/event-type/';
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/';

/** Events that a client may request, by their URIs (RISC 1.0, CAEP 1.0, OAuth Event Types 1.0). */
export const EVENT_TYPES = {
  'tokens-revoked': `${OAUTH}tokens-revoked`,
  'account-disabled': `${RISC}account-disabled`,
  'account-enabled': `${RISC}account-enabled`,
  'account-purged': `${RISC}account-purged`,
  'identifier-changed': `${RISC}identifier-changed`,
  'session-revoked': `${CAEP}session-revoked`,
  'credential-change': `${CAEP}credential-change`,
  'client-disabled': `${OAUTH}client-disabled`,
  'client-enabled': `${OAUTH}client-enabled`,
  'client-credential-changed': `${OAUTH}client-credential-changed`,
} as const;

/** Events about the stream, which every stream gets (sections 8.1.4.2 and 8.1.5 of the Shared Signals Framework). */
const STREAM_EVENTS = {
  verification: `${SSF}verification`,
  'stream-updated': `${SSF}stream-updated`,
} as const;

export type RequestableEvent = keyof typeof EVENT_TYPES;
export type SecurityEventType = RequestableEvent | keyof typeof STREAM_EVENTS;
/** `logout` is a logout token (OpenID Connect Back-Channel Logout 1.0 2.4). */
export type EventType = SecurityEventType | 'logout';

export const REQUESTABLE_EVENTS = Object.keys(EVENT_TYPES) as readonly RequestableEvent[];

export function uriOf(type: SecurityEventType): string {
  return { ...EVENT_TYPES, ...STREAM_EVENTS }[type];
}

/** Returns null for a URI of another event. */
export function requestableEvent(uri: string): RequestableEvent | null {
  return REQUESTABLE_EVENTS.find((type) => EVENT_TYPES[type] === uri) ?? null;
}
