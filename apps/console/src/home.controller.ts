import { Controller, Get, HttpStatus, Redirect } from '@nestjs/common';

@Controller()
export class HomeController {
  @Get()
  @Redirect('/applications', HttpStatus.SEE_OTHER)
  home(): void {}
}
