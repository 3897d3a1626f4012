/** Injection token of a clock that nobody sets: its differences are times that have passed. */
export const MONOTONIC_CLOCK = Symbol('monotonic clock');

/** Milliseconds since any moment. */
export type MonotonicClock = () => number;
