import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The fields of a posted form, or of a query. */
export class Form extends URLSearchParams {
  /** @returns an empty string for a missing field, without white space around it */
  text(name: string): string {
    return (this.get(name) ?? '').trim();
  }

  /** @returns null for a missing or empty field */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  /** The lines of a text, without empty ones. */
  lines(name: string): string[] {
    return (this.get(name) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  /** All values of repeated fields, such as checkboxes. */
  all(name: string): string[] {
    return this.getAll(name);
  }
}

/** Parser of `application/x-www-form-urlencoded`. */
export function parseConsoleForm(text: string): Form {
  return new Form(text);
}

/** Injects the query of a page. */
export const QueryForm = createParamDecorator((_data: unknown, context: ExecutionContext): Form =>
  queryOf(context.switchToHttp().getRequest<FastifyRequest>().url),
);

/** @param url of a request */
export function queryOf(url: string): Form {
  const at = url.indexOf('?');
  return new Form(at < 0 ? '' : url.slice(at + 1));
}
