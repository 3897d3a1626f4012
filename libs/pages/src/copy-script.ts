import { createHash } from 'node:crypto';

/**
 * Shows the buttons that copy a value, which is selectable text without scripts. `navigator.clipboard` needs https or
 * localhost; without it, the button selects the value.
 */
export const COPY_SCRIPT = `'use strict';
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
export const COPY_SCRIPT_PATH = `/script/${createHash('sha256').update(COPY_SCRIPT).digest('hex').slice(0, 16)}.js`;
