import { Module } from '@nestjs/common';
import { OperatorSessionModule } from '../session/operator-session.module.js';
import { ApplicationEventsController } from './application-events.controller.js';
import { ApplicationPageService } from './application-page.service.js';
import { ApplicationsController } from './applications.controller.js';
import { ConsentPreviewController } from './consent-preview.controller.js';
import { CreateApplicationController } from './create-application.controller.js';
import { EditApplicationController } from './edit-application.controller.js';
import { ClientKeysController } from './client-keys.controller.js';
import { ApplicationLogoController } from './application-logo.controller.js';

@Module({
  imports: [OperatorSessionModule],
  controllers: [
    // Must precede the route `applications/:id`.
    CreateApplicationController,
    ConsentPreviewController,
    EditApplicationController,
    ApplicationLogoController,
    ClientKeysController,
    ApplicationEventsController,
    ApplicationsController,
  ],
  providers: [ApplicationPageService],
})
export class ApplicationsModule {}
