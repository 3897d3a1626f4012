import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { type Parameters, readDto } from '#oauth/parameters.js';

/** Reads a request body into the DTO class of the handler's argument. @throws OAuthError invalid_request */
@Injectable()
export class ParametersPipe implements PipeTransform<Parameters | undefined, object> {
  transform(parameters: Parameters | undefined, { metatype }: ArgumentMetadata): object {
    if (!metatype) throw new TypeError('ParametersPipe needs the class of a DTO as the type of the argument');
    return readDto(metatype as Type<object>, parameters);
  }
}
