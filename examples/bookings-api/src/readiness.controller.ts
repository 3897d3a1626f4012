import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { Introspector } from '@scheduling-oauth/introspection';

/** Readiness probe for a load balancer or Kubernetes. */
@Controller('readyz')
export class ReadinessController {
  constructor(private readonly introspector: Introspector) {}

  @Get()
  async ready(): Promise<{ status: 'ready' }> {
    await this.introspector.ping().catch((cause: unknown) => {
      throw new ServiceUnavailableException('NATS does not answer', { cause });
    });
    return { status: 'ready' };
  }
}
