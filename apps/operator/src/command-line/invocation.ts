/**
 * How this command line was started, for hints that can be copied: by npm in a checkout, else by its own name, as in
 * an image that has no npm.
 */
export function invocation(env: NodeJS.ProcessEnv = process.env): string {
  return ['operator', 'migrate'].includes(env.npm_lifecycle_event ?? '')
    ? 'npm run -s operator --'
    : 'operator';
}
