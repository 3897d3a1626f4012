import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { ConnectedAppsController } from './connected-apps.controller.js';

/** The applications that can use an account, and revoking their access. */
@Module({ imports: [SessionModule, UiModule], controllers: [ConnectedAppsController] })
export class ConnectedAppsModule {}
