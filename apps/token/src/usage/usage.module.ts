import { Module } from '@nestjs/common';
import { UnredeemedGrantsLoop } from './unredeemed-grants.loop.js';
import { UsageRecorder } from './usage-recorder.js';

@Module({ providers: [UsageRecorder, UnredeemedGrantsLoop], exports: [UsageRecorder] })
export class UsageModule {}
