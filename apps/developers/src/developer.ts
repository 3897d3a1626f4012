import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import type { OwnerActor } from '#operations/audit-trail.js';
import type { Account, PageRequest } from '#pages/account.js';
import { queryOf } from '#pages/form.js';
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

/** User of a page, with the language and the note of the request. */
export interface Viewer {
  readonly developer: Developer;
  readonly actor: OwnerActor;
  readonly translator: Translator;
  /** Note of `noted`, which a redirect after a change added to the URL. */
  readonly note: string | null;
}

function viewerOf(_data: unknown, context: ExecutionContext): Viewer {
  const { developer, translator, url } = context.switchToHttp().getRequest<DeveloperRequest>();
  if (!developer || !translator) throw new Error('a public route has no developer');
  const { name, userId } = developer;
  const actor: OwnerActor = { name, channel: 'portal', role: null, userId };
  return { developer, actor, translator, note: queryOf(url).get('note') };
}

export const CurrentViewer = createParamDecorator(viewerOf);

interface ApplicationRoute extends Viewer {
  readonly clientId: string;
}

const RouteOfApplication = createParamDecorator((data: unknown, context: ExecutionContext) => ({
  ...viewerOf(data, context),
  clientId: context.switchToHttp().getRequest<{ params: { id: string } }>().params.id,
}));

@Injectable()
class OwnedClientPipe implements PipeTransform<ApplicationRoute, Promise<OwnedClient>> {
  constructor(private readonly applications: ApplicationService) {}

  transform({ actor, clientId }: ApplicationRoute): Promise<OwnedClient> {
    return this.applications.find(actor, clientId);
  }
}

/** Application `:id`. Rejects users who do not own it. */
export const Application = (): ParameterDecorator => RouteOfApplication(OwnedClientPipe);
