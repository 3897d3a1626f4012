import type { RotationStep } from '#keys/operations/rotation.js';
import { html, type Html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import { copyButton, button, choices, linesField, notices, postForm } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';

export type Ring = 'token' | 'id-token';

const VARIABLES: Readonly<Record<Ring, string>> = { token: 'TOKEN_KEYS', 'id-token': 'ID_TOKEN_KEYS' };

export const FIELDS = { token: 'tokenKeys', 'id-token': 'idTokenKeys' } as const;

const BEGIN = 'Start another rotation early';

export function fieldName(field: string): string {
  return (
    { tokenKeys: VARIABLES.token, idTokenKeys: VARIABLES['id-token'], begin: `“${BEGIN}”` }[field] ?? field
  );
}

interface Refused {
  readonly ring: Ring;
  readonly problems: readonly string[];
  readonly status: number;
}

export function keysPage(operator: Operator, refused?: Refused): Page {
  return {
    title: 'Rotate keys',
    status: refused?.status ?? 200,
    section: '/health',
    content: html`
      <p>
        A rotation has three steps: add a new key, sign with it, remove the old key. For each, paste the
        current value here, set the next value for the services, and restart them one after the other. A step
        is refused while it would log users out.
      </p>
      ${ringForm(operator, 'token', 'Token keys', refused)}
      ${ringForm(operator, 'id-token', 'ID token keys', refused)}
      <p><a href="/health">Back</a></p>
    `,
  };
}

function ringForm(operator: Operator, ring: Ring, title: string, refused: Refused | undefined): Html {
  const problems = refused?.ring === ring ? refused.problems : [];
  const hint =
    ring === 'token'
      ? 'The current value at authorize and token. It is not stored.'
      : 'The current private keys at token. They are not stored.';
  return html`<section>
    <h2>${title}</h2>
    ${postForm(
      operator,
      `/health/keys/${ring}`,
      html`${linesField({
        name: FIELDS[ring],
        label: VARIABLES[ring],
        value: [],
        hint,
        problems,
        required: true,
      })}
      ${choices('begin', 'After a leak', 'checkbox', [
        {
          value: 'true',
          label: BEGIN,
          hint: 'Even though live tokens still need a key of the last rotation.',
          chosen: false,
        },
      ])}
      ${button('Next step')}`,
    )}
  </section>`;
}

export function keyStepPage(
  ring: Ring,
  { step, action, keys }: Pick<RotationStep, 'step' | 'action' | 'keys'>,
  values: readonly (readonly [services: string, value: string])[],
  warnings: readonly string[],
): Page {
  const title = phrase('Step {step} of 3', { step });
  const { what, safe, next } = texts(ring)[action];
  return {
    title,
    heading: html`${title}: ${what}`,
    section: '/health',
    content: html`
      ${notices({ warnings })}
      <p>
        ${phrase('{count, plural, one {Key} other {Keys}}', { count: keys.length })}:
        ${keys.map((key) => html`<code>${key}</code> `)}
      </p>
      <h2>Now</h2>
      <ol>
        ${values.map(
          ([services, value], index) =>
            html`<li>
              ${phrase('Set {variable} for {services}:', { variable: VARIABLES[ring], services })}
              <pre class="scrolls" tabindex="0"><code id="keys-value-${index}">${value}</code></pre>
              ${copyButton(`keys-value-${index}`)}
            </li>`,
        )}
        <li>
          ${phrase('Restart every process of {services}, one at a time.', { services: values.map(([services]) => services).join(' and ') })}
        </li>
      </ol>
      <p role="status">The value is shown only once. Keep it until the next step.</p>
      <h2>Why this is safe</h2>
      <p>${safe}</p>
      <h2>Next</h2>
      <p>${next}</p>
      <p>
        <a class="button" href="/health/keys">To the next step</a>
        <a class="button even" href="/health">Health</a>
      </p>
    `,
  };
}

interface StepTexts {
  readonly what: string;
  readonly safe: string;
  readonly next: string;
}

function texts(ring: Ring): Readonly<Record<RotationStep['action'], StepTexts>> {
  const isIdToken = ring === 'id-token';
  return {
    add: {
      what: 'add a new key',
      safe: isIdToken
        ? 'The new key is published and signs nothing yet, so that applications can fetch it first.'
        : 'The new key signs nothing yet. Processes that have it verify it, and nobody needs it before the others have it.',
      next: isIdToken
        ? 'Six minutes after the last restart, when no application caches a key set without the new key: step 2, sign with it.'
        : 'As soon as every process has the value: step 2, sign with it.',
    },
    sign: {
      what: 'sign with the new key',
      safe: isIdToken
        ? 'Applications have had time to fetch the new key, and the old one stays published.'
        : 'Every process that runs can verify the new key, and all still verify the old one.',
      next: isIdToken
        ? 'When the ID tokens of the old key have expired: step 3, remove it. The page refuses it until then, and says when.'
        : 'When no live token needs the old key, after the lifetime of a refresh token: step 3, remove it. The page refuses it until then, and says when.',
    },
    remove: {
      what: 'remove the old key',
      safe: isIdToken ? 'The ID tokens that it signed have expired.' : 'No live token needs it any longer.',
      next: 'Nothing: the rotation is complete. Check health after the restart.',
    },
  };
}
