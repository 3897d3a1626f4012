import {
  ApiOperation,
  type HeaderDescription,
  type OperationDescription,
  type ResponseDescription,
} from '#openapi/operation.js';
import { ACCEPT_ENCODING, RETRY_AFTER } from '#openapi/oauth-errors.js';
import type { Schema } from '#openapi/schema.js';

const SESSION = [{ session: [] }] as const;

const LANGUAGE: HeaderDescription = { description: 'Language of the page (BCP 47).', required: true };
const COOKIES: HeaderDescription = { description: 'Cookies of this site, if they change.' };

export const page = (
  description: string,
  headers: Readonly<Record<string, HeaderDescription>> = {},
): ResponseDescription => ({
  description,
  headers: { 'Content-Language': LANGUAGE, 'Set-Cookie': COOKIES, ...headers },
  content: { 'text/html': { schema: { type: 'string' } } },
});

/** Status 303, which browsers follow with GET (RFC 9700 4.12). */
export const seeOther = (description: string): ResponseDescription => ({
  description,
  headers: {
    Location: { description: 'URL to continue with.', required: true },
    'Set-Cookie': COOKIES,
  },
});

/** Response to a form: a page that continues by itself, because a redirect would be subject to `form-action`. */
export const continues = (description: string): ResponseDescription =>
  page(`A page that continues at another URL (docs/security.md#headers). ${description}`);

const ERRORS = {
  400: 'The request is malformed.',
  401: 'Incorrect username or password.',
  403: 'The form came from another site, or the account is disabled.',
  404: 'Not found.',
  413: 'The form is larger than 64 KiB.',
  415: 'The body is not a form.',
  429: 'Too many attempts, or too many requests from this address.',
  500: 'Internal error.',
  503: 'The service is temporarily unavailable.',
} as const;

type ErrorStatus = keyof typeof ERRORS;

const HEADERS: Readonly<Partial<Record<ErrorStatus, Readonly<Record<string, HeaderDescription>>>>> = {
  415: { 'Accept-Encoding': ACCEPT_ENCODING },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
};

/** Error pages with the reference of the request. Every endpoint may respond with 429, 500 or 503. */
export function errorPages(...statuses: readonly ErrorStatus[]): Record<number, ResponseDescription> {
  return Object.fromEntries(
    [...new Set<ErrorStatus>([...statuses, 429, 500, 503])].map((status) => [
      status,
      {
        name: `ErrorPage${status}`,
        ...page(ERRORS[status], HEADERS[status]),
      },
    ]),
  );
}

export const formErrors = (...statuses: readonly ErrorStatus[]): Record<number, ResponseDescription> =>
  errorPages(400, 403, 413, 415, ...statuses);

export const formOf = (
  fields: Readonly<Record<string, string>>,
  required: readonly string[] = Object.keys(fields),
): Schema => ({
  type: 'object',
  required,
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }]),
  ),
});

export const CSRF_TOKEN = { csrf_token: 'Hidden field of the page.' } as const;

type Texts = Pick<OperationDescription, 'id' | 'summary' | 'description' | 'parameters'>;

interface AccountPage extends Texts {
  /** Content of the page. */
  readonly shows: string;
  /** Target of a redirect in place of the page. */
  readonly redirects?: string;
}

/** Describes a page of a logged-in user. */
export const ShowsPage = ({
  shows,
  redirects = 'To the login page, if no user is logged in.',
  ...texts
}: AccountPage): MethodDecorator =>
  ApiOperation({
    ...texts,
    tag: 'Pages',
    security: SESSION,
    responses: { 200: page(shows), 303: seeOther(redirects), ...errorPages() },
  });

interface PageForm extends Texts {
  /** Fields in addition to the CSRF token. */
  readonly fields?: Readonly<Record<string, string>>;
  /** By default all fields. */
  readonly required?: readonly string[];
  /** Replaces the schema of the fields. */
  readonly form?: Schema;
  /** Next page; or the page that the form shows, in `shows`. */
  readonly continuesTo?: string;
  readonly shows?: string;
}

/** Describes a form of a page that needs the session cookie. */
export const ReceivesForm = ({
  fields,
  required,
  form = formOf({ ...CSRF_TOKEN, ...fields }, required),
  continuesTo = '',
  shows,
  ...texts
}: PageForm): MethodDecorator =>
  ApiOperation({
    ...texts,
    tag: 'Pages',
    security: SESSION,
    form,
    responses: { 200: shows === undefined ? continues(continuesTo) : page(shows), ...formErrors() },
  });

/** Binary content needs no schema (OpenAPI 3.1.1, Considerations for File Uploads), so the schema is empty. */
export const IMAGE = { 'image/*': { schema: {} } } as const;
