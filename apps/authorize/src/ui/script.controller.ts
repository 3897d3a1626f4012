import { Controller, Get, Header } from '@nestjs/common';
import { SCRIPT, SCRIPT_PATH } from './script.js';

/** The pages' script, a file of its own: the Content-Security-Policy allows no inline code. */
@Controller()
export class ScriptController {
  @Get(SCRIPT_PATH)
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return SCRIPT;
  }
}
