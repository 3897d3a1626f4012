import { form } from './form.js';
import { html } from './html.js';
import { layout } from './layout.js';

/** The page for a user who is not connected. */
export function startPage({ formToken }: { formToken: string }): string {
  return layout(
    'Connect',
    html`<h1>Meet your calendar here</h1>
      <p>
        Connect your scheduling account, and this application can see who you are and which time zone you live
        in. You log in there, not here: we never see your password.
      </p>
      ${form('/connect', 'Connect your calendar', formToken)}
      <p class="note">You can disconnect at any time.</p>`,
  );
}
