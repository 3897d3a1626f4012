import { Body, Controller, Get, type HttpRedirectResponse, Post } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { KeyService } from '#keys/operations/key.service.js';
import { publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { HealthCheckService } from './health-check.service.js';
import { healthPage } from './health.page.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import type { Form } from '#pages/form.js';
import { fieldName, FIELDS, keysPage, keyStepPage, type Ring } from './token-keys.page.js';

@Controller('health')
export class HealthController {
  constructor(private readonly check: HealthCheckService) {}

  @Get()
  async show(@CurrentOperator() operator: Operator): Promise<Page> {
    return healthPage(operator, await this.check.read());
  }

  @Post()
  async start(@CurrentOperator() operator: Operator): Promise<HttpRedirectResponse> {
    await this.check.start(operator.name);
    return seeOther('/health');
  }
}

/** Rotates keys step by step. No key is stored, except in the response to a repeated form (`IdempotencyService`). */
@Controller('health/keys')
@RequireRole('admin')
export class KeysController {
  constructor(private readonly keys: KeyService) {}

  @Get()
  @RecentLogin()
  ask(@CurrentOperator() operator: Operator): Page {
    return keysPage(operator);
  }

  @Post('token')
  @SentFrom('.', false)
  @RecentLogin()
  tokens(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<Page> {
    return this.next(operator, 'token', async () => {
      const input = { tokenKeys: form.text(FIELDS.token), begin: form.has('begin') };
      const { result, announced } = await this.keys.nextTokenKeys(actorOf(operator), input);
      return keyStepPage('token', result, [['authorize and token', result.tokenKeys]], await announced);
    });
  }

  @Post('id-token')
  @SentFrom('.', false)
  @RecentLogin()
  idTokens(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<Page> {
    return this.next(operator, 'id-token', async () => {
      const input = { idTokenKeys: form.text(FIELDS['id-token']), begin: form.has('begin') };
      const { result, announced } = await this.keys.nextIdTokenKeys(actorOf(operator), input);
      const authorize: [string, string] = ['authorize', publicIdTokenKeys(result.idTokenKeys)];
      const values: [string, string][] = [['token', result.idTokenKeys]];
      if (result.action !== 'sign') values.push(authorize);
      return keyStepPage('id-token', result, values, await announced);
    });
  }

  /** Shows why a step was rejected, but never a key value. */
  private async next(operator: Operator, ring: Ring, step: () => Promise<Page>): Promise<Page> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      const problems = describeProblems(error, fieldName);
      return keysPage(operator, { ring, problems, status: error.kind === 'invalid' ? 400 : 409 });
    }
  }
}
