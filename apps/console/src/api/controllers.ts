import { RefusedRequestError } from '#platform/http/refused-request.js';
import { ClientsApiController } from './clients.controller.js';
import { GrantsApiController } from './grants.controller.js';
import { OpenApiController } from './openapi.controller.js';
import { ReportsApiController } from './reports.controller.js';
import { ResourceServersApiController } from './resource-servers.controller.js';
import { UsersApiController } from './users.controller.js';

export const API_CONTROLLERS = [
  ClientsApiController,
  UsersApiController,
  GrantsApiController,
  ResourceServersApiController,
  ReportsApiController,
  OpenApiController,
];

/** @returns a JSON object; undefined for an empty body */
export function parseApiBody(text: string): object | undefined {
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body) && !isDeep(body)) return body;
  throw new RefusedRequestError(400, `the body must be a JSON object with at most ${MAX_DEPTH} levels`);
}

/** A JWK Set has four. */
const MAX_DEPTH = 10;

/** Deeper values would overflow the stack. */
function isDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((member) => isDeep(member, left - 1));
}
