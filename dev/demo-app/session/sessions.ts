import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Failure } from '../failure.js';
import type { Attempt, Session } from './session.js';

// Cookies do not know ports: the authorize app beside us on localhost has a `session` of its own.
const COOKIE = 'demo_session';
// A person may begin in several tabs; more than this is not a person.
const MOST_ATTEMPTS = 5;

/** Sessions in memory, found by a random cookie that no script can read. */
export class Sessions {
  private readonly sessions = new LRUCache<string, Session>({
    max: 1_000,
    ttl: 12 * 60 * 60 * 1_000,
    updateAgeOnGet: true,
  });

  /** @param secure whether this page is served over https */
  constructor(private readonly secure: boolean) {}

  /** The browser's session; one is begun when it has none. */
  open(request: FastifyRequest, reply: FastifyReply): Session {
    const id = request.cookies[COOKIE];
    const known = id === undefined ? undefined : this.sessions.get(id);
    return known ?? this.begin(reply);
  }

  /** A new id for the same browser once it is connected, so that nobody else holds it (session fixation). */
  renew(session: Session, reply: FastifyReply): Session {
    this.sessions.delete(session.id);
    const renewed = this.begin(reply);
    return Object.assign(renewed, { ...session, id: renewed.id });
  }

  /** The hidden field's value of this session's forms. */
  formToken({ id }: Session): string {
    return createHmac('sha256', id).update('form').digest('base64url');
  }

  /** @throws Failure 403 when a form was not one of this session's own pages */
  checkForm(session: Session, request: FastifyRequest): void {
    const site = request.headers['sec-fetch-site'];
    const { form_token: token } = (request.body ?? {}) as Record<string, unknown>;
    const ours = typeof token === 'string' && sameText(token, this.formToken(session));
    if (ours && (site === undefined || site === 'same-origin')) return;
    throw new Failure(403, {
      title: 'Please click again',
      text: 'This button was on a page that is too old, or your browser refuses cookies. Go back to the start and click once more.',
    });
  }

  addAttempt(session: Session, attempt: Attempt): void {
    session.attempts = [...session.attempts, attempt].slice(-MOST_ATTEMPTS);
  }

  /** The attempt with this state, which then cannot be used again; undefined when this browser began none such. */
  takeAttempt(session: Session, state: string): Attempt | undefined {
    const found = session.attempts.filter((attempt) => sameText(attempt.state, state))[0];
    session.attempts = session.attempts.filter((attempt) => attempt !== found);
    return found;
  }

  private begin(reply: FastifyReply): Session {
    const session: Session = { id: randomBytes(32).toString('base64url'), attempts: [] };
    this.sessions.set(session.id, session);
    void reply.setCookie(COOKIE, session.id, {
      httpOnly: true,
      // Strict would not come along when the authorize app sends the browser back.
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
