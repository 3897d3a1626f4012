import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEVICE_CODE, normalizeUserCode } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { ErrorDetail } from '#oauth/oauth-error.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { type ConsentForm, consentPage } from '../consent/consent.page.js';
import { clearedByForm, readDecision } from '../consent/interaction.js';
import { FORM_FIELD, newFormNonce, SentForm } from '../session/sent-form.js';
import { type FormFields, ProtectForm } from '../session/csrf.guard.js';
import { FLASH_QUERY, FlashMessageStore } from '../session/flash-message.store.js';
import { type CurrentAccount, SessionService } from '../session/session.service.js';
import type { FlashMessage } from '../ui/components.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { type UserPage, UserPageResponder } from '../ui/user-page.responder.js';
import { deviceQuery, loginReturningTo, rawQuery, withQuery } from '../urls.js';
import { DeviceCodeOperation, DeviceDecisionOperation, DeviceOperation } from './device.openapi.js';
import { codePage, type CodeProblem, deviceNotice } from './device.page.js';
import { DeviceService, type PendingDevice } from './device.service.js';

/** Maximum length in characters of a submitted code that the page shows again. Longer text may be a credential. */
const MAX_SHOWN = 12;

/** User interaction of the device authorization grant (RFC 8628 3.3). Looks up a code only for a logged-in user. */
@Controller()
export class DeviceController {
  constructor(
    private readonly devices: DeviceService,
    private readonly sessions: SessionService,
    private readonly flashMessages: FlashMessageStore,
    private readonly language: LanguageService,
    private readonly pages: UserPageResponder,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /** Does not look up the code, because another site could make a browser guess codes. */
  @Get(ENDPOINTS.device)
  @DeviceOperation
  async show(@Req() { url, headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = rawQuery(url);
    const userCode = normalizeUserCode(new URLSearchParams(query).get('user_code'));
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) return this.pages.seeOther(reply, loginReturningTo('device', userCode));
    const { user, cookie } = account;
    const translator = this.language.translatorFor({ headers, query, user });
    this.pages.page(reply, 200, codePage({ translator, cookie, userCode }));
  }

  @Post(ENDPOINTS.device)
  @DeviceCodeOperation
  @ProtectForm('device')
  async submit(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const { user_code: userCode } = fields;
    const pending = await this.findDevice(request, reply, typeof userCode === 'string' ? userCode : '');
    if (pending) this.pages.page(reply, 200, this.deviceConsentPage(request, pending));
  }

  @Post(ENDPOINTS.deviceDecision)
  @DeviceDecisionOperation
  @ProtectForm('consent')
  async decide(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() fields: FormFields = {},
  ): Promise<void> {
    const { raw, url } = request;
    const userCode = new URLSearchParams(rawQuery(url)).get('user_code') ?? '';
    const pending = await this.findDevice(request, reply, userCode, fields[FORM_FIELD]);
    if (!pending) return;
    const { account, device, form } = pending;
    const decision = readDecision(device, fields);
    if (decision.kind === 'undecided') {
      const { nothingChosen } = decision;
      const cleared = clearedByForm(device.scopes, fields);
      const page = this.deviceConsentPage(request, pending, { nothingChosen, cleared });
      return this.pages.page(reply, nothingChosen ? 400 : 200, page);
    }
    if (decision.kind === 'denied') {
      await this.devices.deny(raw, device, form);
      return this.redirect(reply, ENDPOINTS.account, account, { id: 'flash.device_denied' });
    }
    const { scope } = decision;
    const login = this.sessions.loginOf(account.cookie, account.session, {
      query: '',
      isForced: false,
      form: null,
    });
    await this.devices.allow(raw, device, account, { scope, continuesConsent: false, login }, form);
    const values = { client: device.client.name };
    await this.redirect(reply, ENDPOINTS.connectedApps, account, { id: 'flash.device_connected', values });
  }

  /** @returns null if a response was sent: a redirect to the login, or the form with an error message */
  private async findDevice(
    { headers, raw, ip, url }: FastifyRequest,
    reply: FastifyReply,
    submitted: string,
    nonce?: unknown,
  ): Promise<{ account: CurrentAccount; device: PendingDevice; form: SentForm | null } | null> {
    const userCode = normalizeUserCode(submitted);
    const account = await this.sessions.findAccount(headers.cookie);
    if (!account) {
      this.pages.seeOther(reply, loginReturningTo('device', userCode));
      return null;
    }
    const { user, cookie } = account;
    addLogContext(raw, { user_id: user.id, grant_type: DEVICE_CODE });
    const form = SentForm.of(cookie, rawQuery(url), nonce);
    const lookup =
      userCode === null
        ? ({ outcome: 'unknown' } as const)
        : await this.devices.find(userCode, ip, account, form);
    if (lookup.outcome === 'found') {
      const { device } = lookup;
      addLogContext(raw, { client_id: device.clientId, grant_id: device.grantId });
      return { account, device, form };
    }
    const translator = this.language.translatorFor({ headers, query: rawQuery(url), user });
    const show = (status: number, problem: CodeProblem, detail: ErrorDetail): null => {
      addLogContext(raw, detail);
      const form = {
        translator,
        cookie,
        userCode: null,
        submitted: submitted.length <= MAX_SHOWN ? submitted : '',
        problem,
      };
      this.pages.page(reply, status, codePage(form));
      return null;
    };
    if (lookup.outcome === 'unknown')
      return show(400, { id: 'device.problem.unknown' }, { check: 'user_code_unknown' });
    const { counter, retryAfter } = lookup;
    reply.header('Retry-After', String(retryAfter));
    const problem = {
      id: 'device.problem.throttled',
      values: { minutes: Math.ceil(retryAfter / 60) },
    } as const;
    return show(429, problem, { check: 'user_code_throttled', counter, retry_after: retryAfter });
  }

  /** Always asks for consent to every scope, because an attacker may have started the request (RFC 8628 5.4). */
  private deviceConsentPage(
    { headers }: FastifyRequest,
    { account: { user, cookie }, device }: { account: CurrentAccount; device: PendingDevice },
    again: Pick<ConsentForm, 'nothingChosen' | 'cleared'> = {},
  ): UserPage {
    const { client, scopes, resources, userCode } = device;
    const { PRODUCT_NAME: product, apis, avatarOrigins } = this.configuration;
    const query = deviceQuery(userCode);
    const translator = this.language.translatorFor({ headers, user });
    return consentPage({
      translator,
      request: { client, redirectUri: null, scopes, prompt: new Set(['consent']) },
      user,
      cookie,
      nonce: newFormNonce(),
      query,
      action: withQuery(ENDPOINTS.deviceDecision, query),
      notice: deviceNotice(translator, device),
      product,
      apis: apis.length > 1 && resources !== null ? resources.split(' ') : [],
      avatarOrigins,
      ...again,
    });
  }

  private async redirect(
    reply: FastifyReply,
    page: string,
    { cookie }: CurrentAccount,
    message: FlashMessage,
  ): Promise<void> {
    await this.flashMessages.save(cookie, message);
    this.pages.seeOther(reply, withQuery(page, FLASH_QUERY));
  }
}
