import { Body, Controller, Get, NotFoundException, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { ClientView } from '#clients/operations/client.description.js';
import { ClientService } from '#clients/operations/client.service.js';
import { LOGO_LIMITS } from '#clients/registration/logo.js';
import { html } from '#ui/html.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { button, hiddenFields, type Notices, notices, postForm, textField } from '#pages/components.js';
import { type Form, KEPT_FORM } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { labelOf, problemsOf } from './application.form.js';
import { pathOf } from './application.page.js';

@Controller('applications/:id/logo')
@RequireRole('admin')
export class ApplicationLogoController {
  constructor(private readonly clients: ClientService) {}

  @Get()
  @RecentLogin()
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    return logoPage({ operator, client: await this.clients.find(id), sent });
  }

  @Post()
  @RecentLogin()
  async save(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    // If no file was chosen, the operation rejects the empty buffer.
    const logo = form.text('go') === 'remove' ? null : (form.files.get('logo') ?? Buffer.alloc(0));
    try {
      const change = await this.clients.update(actorOf(operator), id, { logo });
      const note = logo ? 'The logo is saved.' : 'The logo is removed.';
      const changed = { note, warnings: await change.announced };
      return logoPage({ operator, client: change.result.client, changed });
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      const problems = [...problemsOf(error).values()].flat();
      return logoPage({ operator, client: await this.clients.find(id), problems });
    }
  }

  @Get('image')
  @RequireRole('viewer')
  async image(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const logo = await this.clients.logo(id);
    if (!logo) throw new NotFoundException();
    reply.header('Content-Security-Policy', "default-src 'none'; sandbox").type(logo.mediaType);
    return logo.image;
  }
}

interface LogoView {
  readonly operator: Operator;
  readonly client: ClientView;
  readonly problems?: readonly string[];
  readonly changed?: Notices;
  readonly sent?: Form | null;
}

function logoPage({ operator, client, problems = [], changed = {}, sent = null }: LogoView): Page {
  const { client_id: id, name, logo } = client;
  const kept = sent?.files.has('logo') ? sent.text(KEPT_FORM) : null;
  return {
    title: phrase('Logo of {name}', { name }),
    status: problems.length > 0 ? 400 : 200,
    section: '/applications',
    content: html`
      ${notices(changed)}
      ${
        logo === null
          ? html`<p>None.</p>`
          : html`<p>
              <img
                class="face"
                src="${pathOf(id, `logo/image?${logo.slice(0, 16)}`)}"
                alt="Current logo"
                width="48"
                height="48"
              />
            </p>`
      }
      ${postForm(
        operator,
        pathOf(id, 'logo'),
        html`${
            kept !== null &&
            html`<p role="status">
                The image that you chose before the login is still selected. Choose another one to replace it.
              </p>
              ${hiddenFields([[KEPT_FORM, kept]])}`
          }
          ${textField({
            name: 'logo',
            label: labelOf('logo'),
            type: 'file',
            value: '',
            hint: phrase('Shown on consent pages. PNG, JPEG or WebP, {limits}.', { limits: LOGO_LIMITS }),
            problems,
          })}
          <div class="actions">
            ${button('Save')}
            ${logo !== null && html`<button class="danger" name="go" value="remove">Remove</button>`}
            <a class="button even" href="${pathOf(id)}">Cancel</a>
          </div>`,
        'narrow',
        true,
      )}
    `,
  };
}
