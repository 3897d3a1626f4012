import { IsIn } from 'class-validator';
import { LOCALES } from '#oauth/locale.js';

/** Options of `user update`. */
export class UserChangesDto {
  @IsIn([...LOCALES, 'none'], {
    message: `--locale must be one of ${LOCALES.join(', ')}, with no region, or none`,
  })
  locale: string;
}
