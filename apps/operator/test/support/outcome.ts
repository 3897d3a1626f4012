import { withCredentials } from '#test/support/process-credentials.js';

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Returns the environment with the credentials of the operator. Only `migrate` may change tables. */
export const ownEnvironment = ([command]: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  command === 'migrate' ? env : withCredentials('operator', env);
