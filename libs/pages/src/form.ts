import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { CSRF_FIELD } from '#ui/browser-cookie.js';

/** Hidden field with the id of a form, which makes two requests with the same form one. */
export const FORM_ID = 'form_id';

/** Parameter and hidden field with the id of a form that was kept during a login. */
export const KEPT_FORM = 'kept';

export class Form extends URLSearchParams {
  readonly files = new Map<string, Buffer>();

  /** Returns the trimmed value, or an empty string if the field is missing. */
  text(name: string): string {
    return (this.get(name) ?? '').trim();
  }

  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  lines(name: string): string[] {
    return (this.get(name) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  /** Fields of the user, without the fields that every form has. */
  get input(): [name: string, value: string][] {
    return [...this].filter(([name]) => ![CSRF_FIELD, FORM_ID, KEPT_FORM].includes(name));
  }

  get isEmpty(): boolean {
    return this.input.length === 0 && this.files.size === 0;
  }

  /** Returns the fields that are not empty. */
  filled<Name extends string>(...names: readonly Name[]): Partial<Record<Name, string>> {
    const fields = names.map((name) => [name, this.text(name)] as const);
    return Object.fromEntries(fields.filter(([, value]) => value !== '')) as Partial<Record<Name, string>>;
  }
}

export function parsePageForm(text: string): Form {
  return new Form(text);
}

/**
 * Parses forms with files (RFC 7578) with the parser of Node, which needs the whole form in memory. Allows 64 KiB more
 * than a file may have: a file that is slightly too large is refused at its field.
 */
export function acceptUploads(fastify: FastifyInstance, maxFileBytes: number): void {
  const options = { parseAs: 'buffer', bodyLimit: maxFileBytes + 64 * 1024 } as const;
  fastify.addContentTypeParser(
    'multipart/form-data',
    options,
    async ({ headers }: FastifyRequest, body: Buffer) => {
      const parsed = await new Response(new Uint8Array(body), {
        headers: { 'Content-Type': headers['content-type'] ?? '' },
      })
        .formData()
        .catch((cause: unknown) => {
          throw new RefusedRequestError(400, 'the form cannot be read', { cause });
        });
      const form = new Form();
      for (const [name, value] of parsed)
        if (typeof value === 'string') form.append(name, value);
        else if (value.size > 0) form.files.set(name, Buffer.from(await value.arrayBuffer()));
      return form;
    },
  );
}

/** Rejects NUL characters in addresses, because PostgreSQL would fail on an id with a NUL character. */
export function refuseNul(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', async ({ url }) => {
    if (url.includes('%00')) {
      const detail = { check: 'address_malformed' };
      throw new RefusedRequestError(400, 'the address contains a NUL character', { detail });
    }
  });
}

export const QueryForm = createParamDecorator((_data: unknown, context: ExecutionContext): Form =>
  queryOf(context.switchToHttp().getRequest<FastifyRequest>().url),
);

export function queryOf(url: string): Form {
  const at = url.indexOf('?');
  return new Form(at < 0 ? '' : url.slice(at + 1));
}

export function withoutQuery(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path;
}
