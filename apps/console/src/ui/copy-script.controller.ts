import { createHash } from 'node:crypto';
import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '../session/operator.guard.js';

/**
 * Shows the buttons that copy a value, which is selectable text without scripts. `navigator.clipboard` needs https or
 * localhost; without it, the button selects the value.
 */
const SCRIPT = `'use strict';
for (const button of document.querySelectorAll('button[data-copies]')) {
  const value = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener('click', async () => {
    getSelection().selectAllChildren(value);
    await navigator.clipboard?.writeText(value.textContent);
    if (navigator.clipboard) button.textContent = button.dataset.done;
  });
}
`;

/** Contains a digest of the script, so that during a deployment no page loads the script of another version. */
export const COPY_SCRIPT_PATH = `/script/${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)}.js`;

/** Serves the script as a file, because the Content-Security-Policy does not allow inline code. */
@Controller()
export class CopyScriptController {
  @Get(COPY_SCRIPT_PATH)
  @Public()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return SCRIPT;
  }
}
