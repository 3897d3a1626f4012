import { Module } from '@nestjs/common';
import { UsageRecorder } from './usage-recorder.service.js';

/** When grants and client secrets were last used. */
@Module({ providers: [UsageRecorder], exports: [UsageRecorder] })
export class UsageModule {}
