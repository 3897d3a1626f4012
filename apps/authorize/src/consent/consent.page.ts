import type { User } from '#directory/user.js';
import type { AuthorizationRequest } from '#authorization/authorization-request.js';
import { SCOPES } from '#directory/scope.js';
import { logoutAddress } from '../login/login-address.js';
import type { Page } from '../page/document.js';
import { html } from '../page/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { describeDestination, formTargets } from './destination.js';

export interface ConsentForm {
  readonly request: AuthorizationRequest;
  readonly user: User;
  readonly cookie: string;
  /** Of the authorization request; the form is sent to the very same one. */
  readonly query: string;
}

/** Asks the user: who wants what, for which account, and where that leads. */
export function consentPage({ request, user, cookie, query }: ConsentForm): Page {
  const client = html`<bdi>${request.client.name}</bdi>`;
  return {
    title: `Allow ${request.client.name}?`,
    formTargets: formTargets(request.redirectUri),
    content: html`
      <h1>Allow ${client} to use your account?</h1>
      <p>${client} is an application that is not made by us. It would be able to:</p>
      <ul>
        ${request.scope.split(' ').map((scope) => html`<li>${SCOPES.get(scope)}</li>`)}
      </ul>
      <div class="account">
        <p>
          You are logged in as <strong><bdi>${user.name}</bdi></strong> (<bdi>${user.email}</bdi>).
        </p>
        <form method="post" action="${logoutAddress(query)}">
          ${hiddenToken(cookie, 'logout')}
          <button class="plain">Not you? Log out</button>
        </form>
      </div>
      <p class="quiet">You will be sent to <strong>${describeDestination(request.redirectUri)}</strong>.</p>
      <form method="post" action="/auth/oauth2/authorize?${query}" class="choice">
        ${hiddenToken(cookie, 'consent')}
        <button class="even" name="decision" value="deny">Deny</button>
        <button class="even" name="decision" value="allow">Allow</button>
      </form>
    `,
  };
}
