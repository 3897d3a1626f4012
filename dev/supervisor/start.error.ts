/** Why `npm start` cannot go on, in words that say what to do; shown without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
