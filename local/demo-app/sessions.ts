import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Failure } from './failure.js';

export interface Person {
  id: string;
  name: string;
  /** Null if the address is not verified. */
  email: string | null;
  /** IANA name. */
  timeZone: string;
  timeFormat: 12 | 24;
}

export interface Connection {
  accessToken: string;
  refreshToken: string;
  expiresAt: Date;
  refreshedAt?: Date;
}

export interface Attempt {
  state: string;
  codeVerifier: string;
}

export interface Session {
  id: string;
  attempts: Attempt[];
  connection?: Connection;
  /** User of the latest connection. */
  userId?: string;
  /** Shared by concurrent requests, because a refresh token can be used only once. */
  refreshing?: Promise<Connection>;
}

// Cookies ignore the port, so the name must differ from the `session` cookie of the authorize app on localhost.
const COOKIE = 'demo_session';
// A user may start to connect in several tabs.
const MAX_ATTEMPTS = 5;

export class Sessions {
  private readonly sessions = new LRUCache<string, Session>({
    max: 1_000,
    ttl: 12 * 60 * 60 * 1_000,
    updateAgeOnGet: true,
  });

  /** @param secure true if the pages are served over https */
  constructor(private readonly secure: boolean) {}

  open(request: FastifyRequest, reply: FastifyReply): Session {
    const id = request.cookies[COOKIE];
    const known = id === undefined ? undefined : this.sessions.get(id);
    return known ?? this.begin(reply);
  }

  /** Gives the session a new id, which prevents session fixation. */
  renew(session: Session, reply: FastifyReply): Session {
    this.sessions.delete(session.id);
    const renewed = this.begin(reply);
    return Object.assign(renewed, { ...session, id: renewed.id });
  }

  formToken({ id }: Session): string {
    return createHmac('sha256', id).update('form').digest('base64url');
  }

  /** @throws Failure 403 for a request from another origin, or a missing or wrong CSRF token */
  checkForm(session: Session, request: FastifyRequest): void {
    const site = request.headers['sec-fetch-site'];
    const { form_token: token } = (request.body ?? {}) as Record<string, unknown>;
    const isValid = typeof token === 'string' && sameText(token, this.formToken(session));
    if (isValid && (site === undefined || site === 'same-origin')) return;
    throw new Failure(403, {
      title: 'Please click again',
      text: 'This button was on a page that is too old, or your browser refuses cookies. Go back to the start and click once more.',
    });
  }

  addAttempt(session: Session, attempt: Attempt): void {
    session.attempts = [...session.attempts, attempt].slice(-MAX_ATTEMPTS);
  }

  takeAttempt(session: Session, state: string): Attempt | undefined {
    const attempt = session.attempts.find((candidate) => sameText(candidate.state, state));
    session.attempts = session.attempts.filter((other) => other !== attempt);
    return attempt;
  }

  /** Ends the connections of a user whose access has ended. */
  disconnect(userId: string): void {
    for (const session of this.sessions.values()) if (session.userId === userId) delete session.connection;
  }

  private begin(reply: FastifyReply): Session {
    const session: Session = { id: randomBytes(32).toString('base64url'), attempts: [] };
    this.sessions.set(session.id, session);
    void reply.setCookie(COOKIE, session.id, {
      httpOnly: true,
      // The browser would not send a Strict cookie after a redirect from the authorize app.
      sameSite: 'lax',
      path: '/',
      secure: this.secure,
    });
    return session;
  }
}

/** Compares secrets in constant time; hashing first makes the lengths equal. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
