/**
 * One spelling for all that may name one account. PostgreSQL finds accounts by `lower()`, whose rules are its locale's
 * and not ours: to it `İ` may be an `i`, and were it another letter here, each `i` of a name would double a guesser's
 * tries. So letters are told apart less here than anywhere there: neither accents, nor forms, nor case count. Two
 * people whose names differ by an accent share a counter of unknown devices, which costs them little.
 */
export function oneSpelling(login: string): string {
  // Lower case first: ẞ has no upper case, but ß has. Upper case last: it takes σ and ς for one letter.
  return login.trim().normalize('NFKD').toLowerCase().toUpperCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
