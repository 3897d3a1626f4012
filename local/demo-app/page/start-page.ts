import { form } from './form.js';
import { html } from './html.js';
import { layout } from './layout.js';

/** The page for a user who is not connected. */
export function startPage({ formToken }: { formToken: string }): string {
  return layout(
    'Connect',
    html`<h1>Welcome to Calendar Connect</h1>
      <p>
        Calendar Connect will be able to view your Scheduling profile, including your time zone. You log in at
        Scheduling, so we never see your password.
      </p>
      ${form('/connect', 'Connect your calendar', formToken)}
      <p class="note">You can disconnect at any time.</p>`,
  );
}
