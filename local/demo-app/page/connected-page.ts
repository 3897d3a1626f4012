import type { Connection, Person } from '../session/session.js';
import { form } from './form.js';
import { type Html, html } from './html.js';
import { layout } from './layout.js';

/** Shows the connected user, the access token's expiry, and the available actions. */
export function connectedPage({
  person,
  connection: { expiresAt, refreshedAt },
  formToken,
}: {
  person: Person;
  connection: Connection;
  formToken: string;
}): string {
  return layout(
    'Connected',
    html`<h1>Your calendar is connected</h1>
      <dl>
        ${row('Name', person.name)} ${row('Email', person.email ?? 'not verified')}
        ${row('Time zone', person.timeZone)} ${row('Access token expires', time(expiresAt, person))}
        ${refreshedAt && row('Tokens refreshed', time(refreshedAt, person))}
      </dl>
      <div class="actions">
        ${form('/refresh', 'Refresh tokens', formToken)}
        ${form('/disconnect', 'Disconnect', formToken, 'plain')}
      </div>`,
  );
}

function row(term: string, value: string | Html): Html {
  return html`<div>
    <dt>${term}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** A date and time in the reader's format. */
function time(moment: Date, { timeZone, timeFormat }: Person): Html {
  const text = new Intl.DateTimeFormat(timeFormat === 12 ? 'en-US' : 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone,
  }).format(moment);
  return html`<time datetime="${moment.toISOString()}">${text}</time>`;
}
