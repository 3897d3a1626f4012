import { Controller, Get, type HttpRedirectResponse, Redirect } from '@nestjs/common';
import { seeOther } from './ui/page.responder.js';

@Controller()
export class HomeController {
  @Get()
  @Redirect()
  home(): HttpRedirectResponse {
    return seeOther('/applications');
  }
}
