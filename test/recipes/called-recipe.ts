import { Dialogue } from '../interop/dialogue.js';

/** What a library hands out as tokens, in its own shape. */
export type Tokens = Readonly<Record<string, unknown>>;

/** What a recipe keeps in the user's session until the user is back. */
export type Session = Readonly<Record<string, string>>;

/** A function of a recipe threw. */
class RecipeError extends Error {
  constructor(
    message: string,
    /** What the recipe's own function `ended` says of the error. */
    readonly ended: boolean,
  ) {
    super(message);
  }
}

type Answer<Result> = { readonly result: Result } | { readonly error: string; readonly ended: boolean };

/** The functions of a recipe, in a process of its own language. */
export class CalledRecipe {
  private readonly dialogue: Dialogue;

  /** @param folder of the recipe */
  constructor(folder: string, [command, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv) {
    this.dialogue = new Dialogue(command, args, env, folder);
  }

  start = (): Promise<[url: string, session: Session]> => this.call('start');
  finish = (callback: URL, session: Session): Promise<Tokens> => this.call('finish', callback.href, session);
  refresh = (tokens: Tokens): Promise<Tokens> => this.call('refresh', tokens);
  profile = (tokens: Tokens): Promise<{ email: string }> => this.call('profile', tokens);
  disconnect = (tokens: Tokens): Promise<unknown> => this.call('disconnect', tokens);

  /** Of the recipe with one writer. */
  accessToken = (userId: number): Promise<string | undefined> => this.call('accessToken', userId);

  end(): Promise<void> {
    return this.dialogue.end();
  }

  /** @throws RecipeError */
  private async call<Result>(call: string, ...args: unknown[]): Promise<Result> {
    this.dialogue.tell({ call, args });
    const answer = await this.dialogue.hear<Answer<Result>>();
    if ('result' in answer || !('error' in answer)) return (answer as { result: Result }).result;
    throw new RecipeError(answer.error, answer.ended);
  }
}
