import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { asDeveloper } from '#database/developer-data-source.js';
import type { DeveloperRequest } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';

/** Runs the statements of a request for its user, in whose language the page is. */
@Injectable()
export class DeveloperInterceptor implements NestInterceptor {
  constructor(private readonly languages: Languages) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<DeveloperRequest>();
    const { developer } = request;
    this.languages.translatorFor(request);
    if (!developer) return next.handle();
    return new Observable((subscriber) =>
      asDeveloper(developer.handle, () => next.handle().subscribe(subscriber)),
    );
  }
}
