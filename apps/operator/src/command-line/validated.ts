import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { InputError } from './input.error.js';

/**
 * The input as an instance of its DTO.
 *
 * @param others problems that were found elsewhere
 * @throws InputError with every problem, in the order of the DTO's fields
 */
export function validated<T extends object>(
  shape: new () => T,
  input: object,
  others: readonly string[] = [],
): T {
  const dto = plainToInstance(shape, input);
  const problems = validateSync(dto, { stopAtFirstError: true })
    .flatMap(({ constraints = {} }) => Object.values(constraints))
    .flatMap((message) => message.split('\n'))
    .concat(others);
  if (problems.length > 0) throw new InputError(problems);
  return dto;
}
