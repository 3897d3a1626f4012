export const CLOCK = Symbol('clock');

/** Milliseconds since the epoch. */
export type Clock = () => number;
