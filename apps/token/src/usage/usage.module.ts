import { Module } from '@nestjs/common';
import { UsageRecorder } from './usage-recorder.js';

@Module({ providers: [UsageRecorder], exports: [UsageRecorder] })
export class UsageModule {}
