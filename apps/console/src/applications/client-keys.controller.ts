import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { ClientView } from '#clients/operations/client.description.js';
import type { ClientChanges } from '#clients/operations/client.dto.js';
import { ClientService } from '#clients/operations/client.service.js';
import { asJwkSet } from '#clients/registration/keys.js';
import { thumbprintOf } from '#oauth/jwk.js';
import { Form } from '#pages/form.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { confirmPage } from '../ui/confirm.page.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { problemsOf, withoutPrivateKeys } from './application.form.js';
import { applicationLabel, pathOf } from './application.page.js';
import { keysPage } from './client-keys.page.js';

/** Public keys of an application that authenticates by private_key_jwt. */
@Controller('applications/:id/keys')
@RequireRole('admin')
@RecentLogin()
export class ClientKeysController {
  constructor(private readonly clients: ClientService) {}

  @Get()
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    return keysPage({ operator, client: await this.clients.find(id), form: sent ?? new Form() });
  }

  /** Adds keys, or replaces all keys by a URL, or the URL by keys. */
  @Post()
  async change(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const client = await this.clients.find(id);
    return this.update(operator, client, form, changesOf(client, form));
  }

  @Get(':key/remove')
  async confirmRemoval(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('key') key: string,
  ): Promise<Page> {
    const client = await this.clients.find(id);
    return confirmPage({
      operator,
      section: '/applications',
      title: phrase('Remove the key {key}?', { key: keyName(client, key) }),
      subject: applicationLabel(client),
      text: 'Assertions that are signed with it are refused immediately.',
      path: pathOf(id, `keys/${encodeURIComponent(key)}/remove`),
      button: 'Remove',
      back: pathOf(id, 'keys'),
    });
  }

  @Post(':key/remove')
  async remove(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('key') key: string,
  ): Promise<Page> {
    return this.update(operator, await this.clients.find(id), new Form(), { removeKeys: [key] });
  }

  private async update(
    operator: Operator,
    { client_id: id }: ClientView,
    form: Form,
    input: ClientChanges,
  ): Promise<Page> {
    try {
      const { result, announced } = await this.clients.update(actorOf(operator), id, input);
      const changed = { note: 'The keys are changed.', warnings: await announced };
      return keysPage({ operator, client: result.client, form: new Form(), changed });
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      const [client, problems] = [await this.clients.find(id), problemsOf(error)];
      return keysPage({ operator, client, form: withoutPrivateKeys(form), problems });
    }
  }
}

/** Returns the `kid` of the key with this thumbprint, or the thumbprint. */
function keyName({ jwks }: ClientView, thumbprint: string): string {
  return jwks?.keys.find((key) => thumbprintOf(key) === thumbprint)?.kid ?? thumbprint;
}

function changesOf({ jwks_uri: uri }: ClientView, form: Form): ClientChanges {
  if (form.has('jwksUri')) return { jwksUri: form.text('jwksUri') };
  const keys = form.text('addKeys');
  return uri === undefined ? { addKeys: keys } : { jwks: asJwkSet(keys) };
}
