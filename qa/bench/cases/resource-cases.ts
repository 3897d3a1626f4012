import type { Case } from '../load.js';
import type { Product } from '../product.js';
import type { Tokens } from './token-cases.js';

export function resourceCases(
  { apiUrl: url }: Product,
  tokens: Tokens,
): Record<'known' | 'unknown' | 'forgedAtApi', Case> {
  const me = (token: string) =>
    ({ method: 'GET', path: '/v2/me', headers: { authorization: `Bearer ${token}` } }) as const;
  const [known = ''] = tokens.access.splice(0, 1);
  return {
    known: { name: '`/v2/me`, known token', url, status: 200, next: () => me(known) },
    unknown: {
      name: '`/v2/me`, unknown token',
      url,
      status: 200,
      most: () => Math.min(tokens.access.length, 8000),
      next: () => me(tokens.access.pop() ?? ''),
    },
    forgedAtApi: {
      name: '`/v2/me`, forged token',
      url,
      status: 401,
      next: () => me(`sat_${'A'.repeat(84)}`),
    },
  };
}
