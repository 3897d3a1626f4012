import { DtoRule, Flag, Text } from '#operations/validate.js';
import { Cursor, Limit } from '#operations/list.js';

const GRANT_ID = /^[A-Za-z0-9_-]{43}$/;

export class GrantListDto {
  @Text()
  user?: string;

  @Text()
  client?: string;

  @Flag()
  ended = false;

  @Cursor((id) => GRANT_ID.test(id))
  cursor?: string;

  @Limit()
  limit = 100;
}

/** Selects the grants of a user, to a client, or of a user to a client; `all` selects every grant. */
@DtoRule('grants_not_selected', ({ id, user, client, all }: GrantSelectionDto) =>
  id !== undefined || (user !== undefined || client !== undefined) === all
    ? ['say which grants: the id of one; or ‹user›, ‹client› or both; or ‹all›']
    : [],
)
export class GrantSelectionDto {
  /** Always rejected, because `revoke` takes the id of one grant. */
  @Text()
  id?: string;

  @Text()
  user?: string;

  @Text()
  client?: string;

  @Flag()
  all = false;
}

export function grantIdProblems(what: string, id: string): string[] {
  return GRANT_ID.test(id) ? [] : [`${what} must be the id of a grant, 43 characters: see grant list`];
}
