import { Module } from '@nestjs/common';
import { ClientExportService } from './file/client-export.service.js';
import { ClientImportService } from './file/client-import.service.js';
import { ClientSecretService } from './client-secret.service.js';
import { ClientService } from './client.service.js';
import { ApplicationService } from './owners/application.service.js';
import { ClientMemberService } from './owners/client-member.service.js';
import { RequestService } from './requests/request.service.js';
import { ReviewService } from './requests/review.service.js';
import { ResourceServerService } from './resource-server.service.js';

const SERVICES = [
  ApplicationService,
  ClientMemberService,
  RequestService,
  ReviewService,
  ClientExportService,
  ClientImportService,
  ClientSecretService,
  ClientService,
  ResourceServerService,
];

@Module({ providers: SERVICES, exports: SERVICES })
export class ClientOperationsModule {}
