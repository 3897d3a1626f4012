import { IsBoolean, IsString } from 'class-validator';
import { Cursor, Limit } from '#operations/list.js';
import { problem } from '#platform/validation/problem.js';
import { MayBeAbsent, ObjectRule } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    grants_not_selected: null;
    grant_id_invalid: null;
    grant_unknown: { readonly id: string };
  }
}

export const GRANT_ID = /^[A-Za-z0-9_-]{43}$/;

export class GrantListDto {
  @IsString()
  @MayBeAbsent()
  user?: string;

  @IsString()
  @MayBeAbsent()
  client?: string;

  @IsBoolean()
  ended = false;

  @Cursor((id) => GRANT_ID.test(id))
  cursor?: string;

  @Limit()
  limit = 100;
}

/** Selects the grants of a user, to a client, or of a user to a client; `all` selects every grant. */
@ObjectRule(({ id, user, client, all }: GrantSelectionDto) =>
  id !== undefined || (user !== undefined || client !== undefined) === all
    ? [problem('grants_not_selected', [])]
    : [],
)
export class GrantSelectionDto {
  /** Always rejected, because `revoke` takes the id of one grant. */
  @IsString()
  @MayBeAbsent()
  id?: string;

  @IsString()
  @MayBeAbsent()
  user?: string;

  @IsString()
  @MayBeAbsent()
  client?: string;

  @IsBoolean()
  all = false;
}
