/**
 * What tests give apps whose dependencies are there: the longest DEPENDENCY_TIMEOUT. On a busy machine processes stand
 * still for seconds, and what is tested is not how long they wait. Tests of servers that fall silent use the default.
 */
export const PATIENT = { DEPENDENCY_TIMEOUT: 10 } as const;

/** The same as environment variables, for processes. */
export const PATIENT_ENVIRONMENT = { DEPENDENCY_TIMEOUT: String(PATIENT.DEPENDENCY_TIMEOUT) } as const;

/** The same in milliseconds, for constructors without a configuration. */
export const PATIENT_MS = PATIENT.DEPENDENCY_TIMEOUT * 1_000;
