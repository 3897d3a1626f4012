import { Module } from '@nestjs/common';
import { ClientLogoApiController } from './client-logo.controller.js';
import { ClientsApiController } from './clients.controller.js';
import { EventDeliveriesApiController, EventStreamsApiController } from './event-deliveries.controller.js';
import { GrantsApiController } from './grants.controller.js';
import { OpenApiController } from './openapi.controller.js';
import { OperatorInvitationsApiController, OperatorsApiController } from './operators.controller.js';
import { ReportsApiController } from './reports.controller.js';
import { RequestsApiController } from './requests.controller.js';
import { ResourceServersApiController } from './resource-servers.controller.js';
import { ScopesApiController } from './scopes.controller.js';
import { UsersApiController } from './users.controller.js';

@Module({
  controllers: [
    ClientsApiController,
    ClientLogoApiController,
    ScopesApiController,
    UsersApiController,
    GrantsApiController,
    EventStreamsApiController,
    EventDeliveriesApiController,
    RequestsApiController,
    ResourceServersApiController,
    OperatorsApiController,
    OperatorInvitationsApiController,
    ReportsApiController,
    OpenApiController,
  ],
})
export class ApiModule {}
