import { Option } from 'nest-commander';

/** Options of a command that take no value, each with what it does: true when given. */
export function Flags(descriptions: Readonly<Record<`--${string}`, string>>): ClassDecorator {
  return ({ prototype }) => {
    for (const [flags, description] of Object.entries(descriptions)) {
      // A function each: nest-commander keeps on it what it is for.
      const descriptor = { value: () => true, configurable: true };
      Object.defineProperty(prototype, flags, descriptor);
      Option({ flags, description })(prototype as object, flags, descriptor);
    }
  };
}
