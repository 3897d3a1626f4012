import { ADDRESS_CHECKS } from './address.checks.js';
import { AUDIT_CHECKS } from './audit.checks.js';
import { CERTIFICATE_CHECKS } from './certificate.checks.js';
import { CLIENT_CHECKS } from './client.checks.js';
import { DATABASE_CHECKS } from './database.checks.js';
import { GENERAL_CHECKS } from './diagnose.js';
import type { Checks } from './finding.js';
import { HEADER_CHECKS } from './header.checks.js';
import { ID_TOKEN_KEY_CHECKS } from './id-token-key.checks.js';
import { KEY_CHECKS } from './key.checks.js';
import { LOGOUT_CHECKS } from './logout.checks.js';
import { NATS_CHECKS } from './nats.checks.js';
import { PROCESS_CHECKS } from './process.checks.js';
import { REDIS_CHECKS } from './redis.checks.js';

export const CATALOGUE: Checks = {
  ...ADDRESS_CHECKS,
  ...HEADER_CHECKS,
  ...PROCESS_CHECKS,
  ...KEY_CHECKS,
  ...ID_TOKEN_KEY_CHECKS,
  ...DATABASE_CHECKS,
  ...REDIS_CHECKS,
  ...NATS_CHECKS,
  ...AUDIT_CHECKS,
  ...LOGOUT_CHECKS,
  ...CERTIFICATE_CHECKS,
  ...CLIENT_CHECKS,
  ...GENERAL_CHECKS,
};
