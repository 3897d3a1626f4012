import { Module } from '@nestjs/common';
import { DpopGuard } from './dpop.guard.js';
import { DpopProofService } from './dpop-proof.service.js';
import { ProofStore } from './proof.store.js';

@Module({ providers: [ProofStore, DpopProofService, DpopGuard], exports: [DpopProofService, DpopGuard] })
export class DpopModule {}
