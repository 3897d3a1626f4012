import { Module } from '@nestjs/common';
import { DoctorService } from './doctor.service.js';

@Module({ providers: [DoctorService], exports: [DoctorService] })
export class DiagnosisModule {}
