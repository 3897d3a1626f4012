import { Controller, Get, type HttpRedirectResponse, Post } from '@nestjs/common';
import { CurrentOperator, type Operator } from '../operator.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { HealthCheckService } from './health-check.service.js';
import { healthPage } from './health.page.js';

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
