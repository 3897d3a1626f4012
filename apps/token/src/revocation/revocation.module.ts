import { Module } from '@nestjs/common';
import { LoopIntervals } from '#platform/background-loop.js';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { RecordedRevocationsService } from './recorded-revocations.service.js';
import { RevocationReconciler } from './revocation-reconciler.js';
import { RevocationResponder } from './revocation.responder.js';
import { RevokeController } from './revoke.controller.js';

@Module({
  imports: [ClientAuthModule],
  controllers: [RevokeController, RevocationResponder],
  providers: [
    RecordedRevocationsService,
    { provide: LoopIntervals, useValue: { pass: 5_000, retry: 1_000 } },
    RevocationReconciler,
  ],
})
export class RevocationModule {}
