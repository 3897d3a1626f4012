import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { ConnectedAppsController } from './connected-apps.controller.js';

@Module({ imports: [SessionModule, UiModule], controllers: [ConnectedAppsController] })
export class ConnectedAppsModule {}
