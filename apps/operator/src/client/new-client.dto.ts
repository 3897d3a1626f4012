import { Matches, ValidateBy } from 'class-validator';
import { checkRedirectUri } from '#directory/redirect-uri.js';

const MAX_REDIRECT_URIS = 20;

/** Options of `client create`. */
export class NewClientDto {
  @Matches(/^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u, {
    message:
      '--name must be 1 to 100 printable characters with no space at either end: users see it when they allow access',
  })
  name: string;

  public?: boolean;

  requirePar?: boolean;

  @ValidateBy({
    name: 'redirectUris',
    validator: {
      validate: (_, argument) => problemsOf(argument?.object as NewClientDto).length === 0,
      defaultMessage: (argument) => problemsOf(argument?.object as NewClientDto).join('\n'),
    },
  })
  redirectUri: string[] = [];
}

function problemsOf({ redirectUri: uris, public: isPublic }: NewClientDto): string[] {
  if (uris.length === 0) {
    return [
      '--redirect-uri is missing: give the address users return to, like https://app.example.com/callback',
    ];
  }
  if (uris.length > MAX_REDIRECT_URIS)
    return [`--redirect-uri is given more than ${MAX_REDIRECT_URIS} times: give fewer`];
  return uris.flatMap((uri, index) => {
    const problem =
      uris.indexOf(uri) < index
        ? 'is given twice: give it once'
        : checkRedirectUri(uri, isPublic ? 'public' : 'confidential');
    // Quoted, so that control characters of a pasted address do not reach the terminal.
    return problem ? [`--redirect-uri ${JSON.stringify(uri.slice(0, 200))} ${problem}`] : [];
  });
}
