import { readdirSync } from 'node:fs';
import { RequestMethod, type Type } from '@nestjs/common';
import {
  HEADERS_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/internal';
import { ParametersPipe } from '../../apps/token/src/parameters.pipe.js';
import { type OperationDescription, operationOf } from '#openapi/operation.js';

export interface Route {
  readonly handler: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  /** All paths of the handler; `path` is the first one. */
  readonly paths: readonly string[];
  /** Undefined if the handler has no `@ApiOperation`. */
  readonly operation: OperationDescription | undefined;
  readonly dto: Type | undefined;
  /** Headers that `@Header` sets. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** @param part folder of the app whose routes are described; the whole app by default */
export async function routesOf(app: string, part = ''): Promise<Route[]> {
  const folder = new URL(`../../apps/${app}/src/${part}`, import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.controller.ts'))
    .sort();
  const exported: unknown[] = [];
  // Imports sequentially, because in Jest concurrent imports of modules with shared dependencies fail.
  for (const file of files)
    exported.push(...Object.values((await import(new URL(file, folder).href)) as object));
  return exported
    .filter((value): value is Type<object> => typeof value === 'function' && isController(value))
    .flatMap(routesOfController);
}

function isController(value: object): boolean {
  return Reflect.hasMetadata(PATH_METADATA, value);
}

function routesOfController(controller: Type<object>): Route[] {
  const prefix = String(Reflect.getMetadata(PATH_METADATA, controller));
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = name === 'constructor' ? undefined : prototype[name];
    const method = handler && (Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined);
    if (!handler || method === undefined) return [];
    const [path = '', ...others] = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]]
      .flat()
      .map((part) => pathOf(prefix, part));
    return {
      handler: `${controller.name}.${name}`,
      method: RequestMethod[method].toLowerCase() as Route['method'],
      path,
      paths: [path, ...others],
      operation: operationOf(handler),
      dto: dtoOf(controller, name),
      headers: (Reflect.getMetadata(HEADERS_METADATA, handler) ?? []) as Route['headers'],
    };
  });
}

/** Converts Nest's `:name` to `{name}`. */
function pathOf(prefix: string, path: string): string {
  const full = `/${prefix}/${path}`.replaceAll(/\/+/g, '/').replaceAll(/:(\w+)/g, '{$1}');
  return full === '/' ? full : full.replace(/\/$/, '');
}

function dtoOf(controller: Type<object>, name: string): Type | undefined {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<
    string,
    { index: number; pipes?: unknown[] }
  >;
  const body = Object.values(args).find(({ pipes = [] }) => pipes.includes(ParametersPipe));
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype, name) ?? []) as Type[];
  return body && types[body.index];
}
