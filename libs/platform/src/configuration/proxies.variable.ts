import { compile } from '@fastify/proxy-addr';
import { ValidateBy } from 'class-validator';
import { listOf } from './variables.js';

/** Addresses or ranges of proxies, comma-separated; `loopback`, `linklocal` and `uniquelocal` are ranges as well. */
export function ProxiesVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'proxies',
    validator: {
      validate: (value) => typeof value === 'string' && areRanges(listOf(value)),
      defaultMessage: (argument) =>
        `${argument?.property} must be IP addresses or ranges such as 10.0.0.0/8, comma-separated`,
    },
  });
}

function areRanges(values: string[]): boolean {
  try {
    compile(values);
    return true;
  } catch {
    return false;
  }
}
