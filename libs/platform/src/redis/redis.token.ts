/** Injection token of the process's one Redis connection. */
export const REDIS = Symbol('redis');
