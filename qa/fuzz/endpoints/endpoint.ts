import type { Actor } from '../actor.js';
import type { FuzzedApp } from '../test-environment.js';
import type { Body, Draft, Field, Header } from '../draft.js';

export interface Endpoint {
  readonly name: string;
  readonly app: FuzzedApp;
  readonly internal: boolean;
  /** Possible statuses of the response to a valid request, unless the app is overloaded. */
  readonly validStatuses: readonly number[];
  /** @param variant number whose bits select the form of the request */
  readonly build: (actor: Actor, variant: number) => Promise<Draft>;
}

export const endpointsOf =
  (app: FuzzedApp) =>
  (name: string, validStatuses: readonly number[], build: Endpoint['build']): Endpoint => ({
    name,
    app,
    internal: false,
    validStatuses,
    build,
  });

export interface Parts {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>>;
}

/** Builds a valid request with the headers that a reverse proxy adds. */
export function draft(
  actor: Actor,
  app: FuzzedApp,
  [method, path]: readonly [method: string, path: string],
  { query = {}, headers = {}, form, json }: Parts = {},
): Draft {
  const parameters = form ?? json;
  const body: Body | null = parameters
    ? { format: form ? 'form' : 'json', fields: fieldsOf(parameters), changes: [], chunked: false }
    : null;
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
  const all: Readonly<Record<string, string>> = {
    Host: new URL(actor.urls[app]).host,
    'X-Forwarded-For': actor.address(),
    ...(body && { 'Content-Type': type }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]): Header => ({ name, value }));
  const uri = `${actor.urls[app]}${path}`;
  return { app, internal: false, uri, method, path, query: fieldsOf(query), headers: lines, body };
}

function fieldsOf(parameters: Readonly<Record<string, unknown>>): Field[] {
  return Object.entries(parameters).map(([name, value]) => ({ name, value }));
}

export const bit = (variant: number, n: number): boolean => ((variant >> n) & 1) === 1;

/** Selects a choice by two bits of the variant. */
export function choose<T>(variant: number, n: number, choices: readonly [T, ...T[]]): T {
  return choices[((variant >> n) & 3) % choices.length] ?? choices[0];
}
