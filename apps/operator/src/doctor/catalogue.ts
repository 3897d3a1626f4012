import { ADDRESS_CHECKS } from './address.checks.js';
import { CLIENT_CHECKS } from './client.checks.js';
import { DATABASE_CHECKS } from './database.checks.js';
import { GENERAL_CHECKS } from './diagnose.js';
import type { Checks } from './finding.js';

/** Every check that doctor knows. */
export const CATALOGUE: Checks = {
  ...ADDRESS_CHECKS,
  ...DATABASE_CHECKS,
  ...CLIENT_CHECKS,
  ...GENERAL_CHECKS,
};
