import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import {
  getMetadataStorage,
  ValidateBy,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { OAuthError } from './oauth-error.js';
import type { Parameters } from './parameters.js';

/** Whether a request has the parameter, by the parameters of its DTO that are declared before. */
type Condition = (dto: never) => boolean;

interface ParameterRules {
  /** Longest value, in characters. */
  readonly max: number;
  /** True when absent. */
  readonly required?: boolean;
  /** Requests that have the parameter; in others it is unknown, and ignored. */
  readonly when?: Condition;
}

/** RFC 6749 appendix A: every parameter is made of printable ASCII (VSCHAR, or a URI). */
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * Declares a parameter of a DTO: a single string of printable ASCII, bounded. The message names the parameter and says
 * what is wrong, and never repeats what was sent.
 */
export function Parameter({ max, required = true, when }: ParameterRules): PropertyDecorator {
  const problem = (value: unknown): string | null => {
    if (value === undefined) return required ? 'is missing' : null;
    // RFC 6749 3.2: "Request and response parameters MUST NOT be included more than once."
    if (typeof value !== 'string') return 'must be a single string, and not be repeated';
    if (value.length > max) return `is longer than ${max} characters`;
    return PRINTABLE.test(value) ? null : 'contains a character that is not printable ASCII';
  };
  return ValidateBy({
    name: 'parameter',
    constraints: when ? [when] : [],
    validator: {
      validate: (value) => problem(value) === null,
      defaultMessage: (context) => `the parameter '${context?.property}' ${problem(context?.value)}`,
    },
  });
}

/** Declares a parameter that may be repeated, and whose values the endpoint checks. */
export function RepeatableParameter(): PropertyDecorator {
  return ValidateBy({ name: 'repeatable parameter', constraints: [], validator: { validate: () => true } });
}

/**
 * `@Body(ParametersPipe) dto: TokenDto`: the parameters that the DTO declares. Others are ignored (RFC 6749 3.2).
 *
 * @throws OAuthError invalid_request that names every problem
 */
@Injectable()
export class ParametersPipe implements PipeTransform<Parameters | undefined, object> {
  transform(parameters: Parameters | undefined, { metatype }: ArgumentMetadata): object {
    if (!metatype) throw new TypeError('ParametersPipe needs the class of a DTO as the type of the argument');
    const dto = new (metatype as Type<Record<string, unknown>>)();
    const problems: string[] = [];
    for (const { property, condition, constraint } of rulesOf(metatype)) {
      if (condition && !condition(dto as never)) continue;
      const value = parameters?.[property];
      dto[property] = value;
      if (constraint.validate(value)) continue;
      const context = { property, value } as ValidationArguments;
      problems.push(constraint.defaultMessage?.(context) ?? `the parameter '${property}' is invalid`);
    }
    if (problems.length > 0) throw OAuthError.invalidRequest(problems.join('; '));
    return dto;
  }
}

/** A constraint that looks at nothing but the value. */
interface OneValueConstraint extends Pick<ValidatorConstraintInterface, 'defaultMessage'> {
  validate(value: unknown): boolean;
}

interface PropertyRule {
  readonly property: string;
  readonly condition: Condition | undefined;
  readonly constraint: OneValueConstraint;
}

const compiled = new WeakMap<object, readonly PropertyRule[]>();

/** What class-validator knows of a DTO, looked up once: `validateSync` does it for every object, which costs 6 µs. */
function rulesOf(dto: Type): readonly PropertyRule[] {
  let rules = compiled.get(dto);
  if (!rules) {
    const storage = getMetadataStorage();
    rules = storage
      .getTargetValidationMetadatas(dto, '', true, false)
      .flatMap(({ propertyName: property, constraintCls, constraints: [condition] }) =>
        storage.getTargetValidatorConstraints(constraintCls).map(({ instance }) => ({
          property,
          condition: condition as Condition | undefined,
          constraint: instance as OneValueConstraint,
        })),
      );
    compiled.set(dto, rules);
  }
  return rules;
}
