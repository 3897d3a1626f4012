import { Controller, Get, Header } from '@nestjs/common';
import { Public } from './session/operator.guard.js';
import { COPY_SCRIPT, COPY_SCRIPT_PATH } from './ui/copy-script.js';

/** Serves the script as a file, because the Content-Security-Policy does not allow inline code. */
@Controller()
export class CopyScriptController {
  @Get(COPY_SCRIPT_PATH)
  @Public()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return COPY_SCRIPT;
  }
}
