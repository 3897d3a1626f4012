import { Body, Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { asJwkSet, containsPrivateKey } from '#clients/registration/keys.js';
import { AdministrationError } from '#operations/administration.error.js';
import type { Form } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { problemsOf } from '../requests/request.form.js';
import { confirmPage, noted, pathOf } from '../ui/parts.js';
import { keysFormPage, keysPage } from './keys.page.js';

/** Public keys of an application that authenticates by private_key_jwt. */
@Controller('applications/:id/keys')
export class KeysController {
  constructor(private readonly applications: ApplicationService) {}

  @Get()
  async show(@CurrentViewer() viewer: Viewer, @Application() client: OwnedClient): Promise<Page> {
    const fetched = client.jwksUri === null ? null : await this.applications.fetchedKeys(client);
    return keysPage({ ...viewer, client, fetched });
  }

  @Get('change')
  @RecentLogin()
  form(@CurrentViewer() viewer: Viewer, @Application() client: OwnedClient): Page {
    return keysFormPage({ ...viewer, client });
  }

  /** Replaces the keys by a set or by a URL. */
  @Post()
  @RecentLogin()
  @SentFrom('keys/change', false)
  async change(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const [jwks, jwksUri] = [form.text('jwks'), form.text('jwksUri').trim()];
    const keys = form.has('jwksUri') ? { jwksUri } : { jwks: asJwkSet(jwks) };
    const version = Number(form.text('version'));
    try {
      const { announced } = await this.applications.changeKeys(viewer.actor, client.clientId, keys, {
        version,
      });
      await announced;
      return seeOther(noted(pathOf(client.clientId), 'keys'));
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      const given = { jwks: containsPrivateKey(jwks) ? '' : jwks, jwksUri };
      return keysFormPage({ ...viewer, client, given, problems: problemsOf(viewer.translator, error) });
    }
  }

  @Get('remove')
  @RecentLogin()
  confirm(@CurrentViewer() viewer: Viewer, @Application() { clientId }: OwnedClient): Page {
    const { translator } = viewer;
    return confirmPage(viewer, {
      title: translator.text('keys.remove_title'),
      text: translator.text('keys.remove_text'),
      path: pathOf(clientId, 'keys', 'remove'),
      button: translator.text('team.remove'),
      back: pathOf(clientId),
    });
  }

  /** The application needs a new secret afterwards. */
  @Post('remove')
  @RecentLogin()
  async remove(@CurrentViewer() { actor }: Viewer, @Param('id') id: string): Promise<HttpRedirectResponse> {
    const keys = { jwks: null, jwksUri: null };
    const { announced } = await this.applications.changeKeys(actor, id, keys);
    await announced;
    return seeOther(noted(pathOf(id), 'keys'));
  }
}
