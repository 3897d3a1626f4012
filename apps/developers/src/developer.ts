import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { OwnerActor } from '#operations/audit-trail.js';
import type { Account, PageRequest } from '#pages/account.js';
import type { Session } from '#pages/session.store.js';
import type { Translator } from './ui/i18n/translator.js';

export interface DeveloperSession extends Session {
  /** Access token of the login. Its handle identifies the user to the database. */
  readonly token: string;
  /** Setting of the user; null for the language of the browser. */
  readonly locale: string | null;
}

export interface Developer extends Account {
  readonly authTime: number;
  readonly userId: number;
  /** Handle of the user's grant to the portal, which identifies the user to the database. */
  readonly handle: Buffer;
}

export type DeveloperRequest = PageRequest & {
  developer?: Developer;
  locale?: string | null;
  translator?: Translator;
};

export const CurrentDeveloper = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Developer => {
    const { developer } = context.switchToHttp().getRequest<DeveloperRequest>();
    if (!developer) throw new Error('a public route has no developer');
    return developer;
  },
);

export function actorOf({ name, userId }: Developer): OwnerActor {
  return { name, channel: 'portal', role: null, userId };
}
