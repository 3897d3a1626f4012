import { ValidateBy, type ValidationArguments } from 'class-validator';

interface ParameterRules {
  /** Longest value, in characters. */
  readonly max: number;
  readonly required?: boolean;
}

/** RFC 6749 appendix A: every parameter of ours is made of printable ASCII (VSCHAR, or a URI). */
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * A request parameter: a string of printable ASCII, bounded. Its message names the parameter and says what is wrong
 * with it, and never repeats what was sent.
 */
export function Parameter({ max, required = true }: ParameterRules): PropertyDecorator {
  const problem = (value: unknown): string | null => {
    if (value === undefined) return required ? 'is missing' : null;
    // RFC 6749 3.2: "Request and response parameters MUST NOT be included more than once."
    if (typeof value !== 'string') return 'must be a single string, and not be repeated';
    if (value.length > max) return `is longer than ${max} characters`;
    return PRINTABLE.test(value) ? null : 'holds a character that is not printable ASCII';
  };
  return ValidateBy({
    name: 'parameter',
    validator: {
      validate: (value) => problem(value) === null,
      defaultMessage: (argument?: ValidationArguments) =>
        `the parameter '${argument?.property}' ${problem(argument?.value)}`,
    },
  });
}
