import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { asDeveloper } from '#database/developer-data-source.js';
import type { DeveloperRequest } from '../developer.js';

/** Runs the statements of a request for its user. */
@Injectable()
export class DeveloperInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { developer } = context.switchToHttp().getRequest<DeveloperRequest>();
    if (!developer) return next.handle();
    return new Observable((subscriber) =>
      asDeveloper(developer.handle, () => next.handle().subscribe(subscriber)),
    );
  }
}
