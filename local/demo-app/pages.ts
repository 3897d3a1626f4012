import { STYLE } from './style.js';
import type { Connection, Person } from './sessions.js';
import type { Message } from './failure.js';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escaped markup, created only by `html`. */
class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Escapes all values except Html. Renders undefined as an empty string. */
function html(parts: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  const shown = values.map((value) => (value instanceof Html ? value.text : escape(value ?? '')));
  return new Html(parts.map((part, index) => part + (shown[index] ?? '')).join(''));
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function layout(title: string, card: Html): string {
  // The style is not escaped, because the Content-Security-Policy contains the hash of its exact text.
  const style = new Html(`<style>${STYLE}</style>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Calendar Connect</title>
        ${style}
      </head>
      <body>
        <p class="brand">Calendar Connect</p>
        <main>${card}</main>
        <footer>Demo application of the authorization service</footer>
      </body>
    </html>`.text;
}

/** Form with one button, which sends the session's CSRF token. */
function form(action: string, label: string, formToken: string, look: 'primary' | 'plain' = 'primary'): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="form_token" value="${formToken}" />
    <button class="${look}">${label}</button>
  </form>`;
}

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

function time(moment: Date, { timeZone, timeFormat }: Person): Html {
  const text = new Intl.DateTimeFormat(timeFormat === 12 ? 'en-US' : 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone,
  }).format(moment);
  return html`<time datetime="${moment.toISOString()}">${text}</time>`;
}

export function messagePage({ title, text, csrfToken }: Message): string {
  return layout(
    title,
    html`<h1>${title}</h1>
      <p role="status">${text}</p>
      ${csrfToken === undefined ? undefined : form('/connect', 'Try again', csrfToken)}
      <p class="note"><a href="/">Back to home</a></p>`,
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  revoked: 'Scheduling has removed our access. Other connections are listed in your Scheduling account.',
  forgotten:
    'We have deleted our tokens. Calendar Connect remains listed in your Scheduling account until the access expires.',
  unsure:
    'We have deleted our tokens, but Scheduling did not confirm that our access is removed. You can remove it in your Scheduling account.',
};

/** Returns undefined for an unknown outcome. */
export function disconnectedPage(outcome: string): string | undefined {
  const text = Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome] : undefined;
  return text === undefined ? undefined : messagePage({ title: 'Your calendar is disconnected', text });
}
