import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import type { RequestMethod, Type } from '@nestjs/common';
import type { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { AppModule } from '../../src/app.module.js';

export function routesOf(configuration: AuthorizeConfiguration, method: RequestMethod): string[] {
  const { imports = [] } = AppModule.forRoot(configuration);
  const controllers = imports.flatMap(
    (module): Type[] => Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? [],
  );
  return controllers.flatMap((controller) => {
    const prefix = String(Reflect.getMetadata(PATH_METADATA, controller));
    const prototype = (controller as Type<object>).prototype as Record<string, object>;
    return Object.getOwnPropertyNames(prototype)
      .map((name) => prototype[name] ?? {})
      .filter((handler) => Reflect.getMetadata(METHOD_METADATA, handler) === method)
      .flatMap((handler) => [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat())
      .map((path) => `/${prefix}/${path}`.replaceAll(/\/+/g, '/'))
      .map((path) => (path === '/' ? path : path.replace(/\/$/, '')));
  });
}
