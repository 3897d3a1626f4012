import { createHash } from 'node:crypto';
import type { Connection, Person } from './sessions.js';
import type { Message } from './failure.js';

const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f1ec; --card: #ffffff; --ink: #22211f; --quiet: #5d5a54; --line: #dcd8cf;
  --accent: #0b6b57; --on-accent: #ffffff; --focus: #1b5fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #171816; --card: #222421; --ink: #eceae4; --quiet: #b0ada4; --line: #3b3e39;
    --accent: #7fd6bd; --on-accent: #0c2720; --focus: #9cc0ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 1rem; display: flex; flex-direction: column; align-items: center;
  justify-content: center; gap: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif;
}
.brand { margin: 0; font-weight: 600; color: var(--accent); }
main {
  width: 100%; max-width: 30rem; padding: clamp(1.25rem, 5vw, 2.25rem); background: var(--card);
  border: 1px solid var(--line); border-radius: 1rem;
}
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
p { margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.note, footer { margin: 1rem 0 0; font-size: 0.875rem; color: var(--quiet); }
footer { max-width: 30rem; margin: 0; text-align: center; text-wrap: balance; }
main > :last-child { margin-bottom: 0; }
a { color: var(--accent); display: inline-block; padding: 0.75rem 0; margin: -0.5rem 0; }
dl { margin: 0 0 1.5rem; }
dl div { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
dt { font-size: 0.875rem; color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem; }
button {
  width: 100%; min-height: 2.75rem; padding: 0.6rem 1.25rem; border: 1px solid var(--accent);
  border-radius: 0.6rem; font: inherit; font-weight: 600; cursor: pointer;
}
.primary { background: var(--accent); color: var(--on-accent); }
.plain { background: none; color: var(--accent); }
button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
`;

/** Content-Security-Policy source that allows only this style. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

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

/** Escapes all values except Html and lists of it. Renders undefined as an empty string. */
function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[] | undefined)[]
): Html {
  const shown = values.map((value) => {
    if (value instanceof Html) return value.text;
    return typeof value === 'object' ? value.join('') : escape(value ?? '');
  });
  return new Html(parts.map((part, index) => part + (shown[index] ?? '')).join(''));
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** @param refresh seconds after which the browser loads the page again */
function layout(title: string, card: Html, refresh?: number): string {
  // The style is not escaped, because the Content-Security-Policy contains the hash of its exact text.
  const style = new Html(`<style>${STYLE}</style>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="${String(refresh)}" />`}
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
      </div>
      <p class="note"><a href="/events">Events from Scheduling</a></p>`,
  );
}

export interface ReceivedEvent {
  readonly jti: string;
  readonly at: Date;
  /** Last part of the event's URI. */
  readonly type: string;
  /** User, or the client for an event about the client. */
  readonly subject: string;
  readonly reason: string | undefined;
}

/** Loads itself again, so that events appear as they arrive. */
export function eventsPage(events: readonly ReceivedEvent[]): string {
  const rows = events.map(({ at, type, reason }) =>
    row(at.toISOString().slice(11, 19), html`<strong>${type}</strong> ${reason}`),
  );
  return layout(
    'Events',
    html`<h1>Events from Scheduling</h1>
      ${
        rows.length === 0
          ? html`<p role="status">
              None yet. Remove the access of Calendar Connect in your Scheduling account, and watch.
            </p>`
          : html`<dl>${rows}</dl>`
      }
      <p class="note"><a href="/">Back to home</a></p>`,
    2,
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
