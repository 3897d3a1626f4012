import { DOCTOR_ADDRESS_CHECKS } from './address.checks.js';
import { DOCTOR_CERTIFICATE_CHECKS } from './certificate.checks.js';
import { DOCTOR_CLIENT_CHECKS } from './client.checks.js';
import { DOCTOR_DATABASE_CHECKS } from './database.checks.js';
import { DOCTOR_DELIVERY_CHECKS } from './delivery.checks.js';
import { DOCTOR_GENERAL_CHECKS } from './diagnose.js';
import type { DoctorChecks } from './finding.js';
import { DOCTOR_HEADER_CHECKS } from './header.checks.js';
import { DOCTOR_ID_TOKEN_KEY_CHECKS, DOCTOR_KEY_CHECKS } from './key.checks.js';
import { DOCTOR_NATS_CHECKS } from './nats.checks.js';
import { DOCTOR_AUDIT_CHECKS, DOCTOR_PROCESS_CHECKS, DOCTOR_RIGHTS_CHECKS } from './process.checks.js';
import { DOCTOR_REDIS_CHECKS } from './redis.checks.js';

export const CATALOGUE: DoctorChecks = {
  ...DOCTOR_ADDRESS_CHECKS,
  ...DOCTOR_HEADER_CHECKS,
  ...DOCTOR_PROCESS_CHECKS,
  ...DOCTOR_RIGHTS_CHECKS,
  ...DOCTOR_KEY_CHECKS,
  ...DOCTOR_ID_TOKEN_KEY_CHECKS,
  ...DOCTOR_DATABASE_CHECKS,
  ...DOCTOR_REDIS_CHECKS,
  ...DOCTOR_NATS_CHECKS,
  ...DOCTOR_AUDIT_CHECKS,
  ...DOCTOR_DELIVERY_CHECKS.logouts,
  ...DOCTOR_DELIVERY_CHECKS.events,
  ...DOCTOR_DELIVERY_CHECKS.mail,
  ...DOCTOR_CERTIFICATE_CHECKS,
  ...DOCTOR_CLIENT_CHECKS,
  ...DOCTOR_GENERAL_CHECKS,
};
