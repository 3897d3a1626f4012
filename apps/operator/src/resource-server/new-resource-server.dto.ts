import { nameProblems, Rule } from '../client/registration-rules.js';

/** Options of `resource-server create`. */
export class NewResourceServerDto {
  @Rule(({ name }: NewResourceServerDto) => nameProblems(name, 'operators know the account by it'))
  name: string;
}
