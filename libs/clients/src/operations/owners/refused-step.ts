import { AdministrationError } from '#operations/administration.error.js';
import { Refusal } from '../../owners/refusal.js';

/** Converts the refusal of a store. @throws AdministrationError */
export function unlessRefused<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    throw error instanceof Refusal ? new AdministrationError(error.kind, [error.problem]) : error;
  });
}
