import { Body, Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { asJwkSet, containsPrivateKey } from '#clients/registration/keys.js';
import type { Form } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { unlessInvalid } from '../requests/request.form.js';
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
    const given = { jwks: containsPrivateKey(jwks) ? '' : jwks, jwksUri };
    const changed = this.changeKeys(viewer.actor, client.clientId, keys, { version });
    return unlessInvalid(viewer.translator, changed, (problems) =>
      keysFormPage({ ...viewer, client, given, problems }),
    );
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
    return this.changeKeys(actor, id, { jwks: null, jwksUri: null });
  }

  private async changeKeys(
    ...change: Parameters<ApplicationService['changeKeys']>
  ): Promise<HttpRedirectResponse> {
    const [, id] = change;
    await (
      await this.applications.changeKeys(...change)
    ).announced;
    return seeOther(noted(pathOf(id), 'keys'));
  }
}
