import { Rule } from '../command-line/input.js';

const GRANT_ID = /^[A-Za-z0-9_-]{43}$/;
const MAX_LIMIT = 1000;

export class GrantListDto {
  user?: string;

  client?: string;

  ended = false;

  @Rule(({ limit }: GrantListDto) =>
    Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
      ? []
      : [`--limit must be a whole number from 1 to ${MAX_LIMIT}`],
  )
  limit = 100;

  @Rule(({ before }: GrantListDto) => (before === undefined ? [] : idProblems('--before', before)))
  before?: string;
}

export class GrantRevocationDto {
  @Rule(({ id }: GrantRevocationDto) => (id === undefined ? [] : idProblems('the grant', id)))
  id?: string;

  user?: string;

  client?: string;

  @Rule(({ id, user, client, all }: GrantRevocationDto) => {
    const ways = [id !== undefined, user !== undefined || client !== undefined, all];
    return ways.filter(Boolean).length === 1
      ? []
      : ['say which grants: the id of one; or --user, --client or both; or --all'];
  })
  all = false;

  yes = false;
}

function idProblems(what: string, id: string): string[] {
  return GRANT_ID.test(id) ? [] : [`${what} must be the id of a grant, 43 characters: see grant list`];
}
