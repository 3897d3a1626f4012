import { Module } from '@nestjs/common';
import { DpopProofService } from './dpop-proof.service.js';
import { ProofStore } from './proof.store.js';

@Module({ providers: [ProofStore, DpopProofService], exports: [DpopProofService] })
export class DpopModule {}
