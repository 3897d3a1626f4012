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
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new RefusedRequestError(400, 'the body must be a JSON object');
}
