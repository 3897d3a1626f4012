import { applyDecorators } from '@nestjs/common';
import { IsString, Length, Matches } from 'class-validator';
import { reports } from '#platform/validation/problem.js';
import { Satisfies } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    receiver_url_invalid: null;
    receiver_header_invalid: null;
  }
}

/** Permits http only on this machine, which `OutsideHttp` refuses unless OUTSIDE_FETCH_ALLOW names it. */
function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text) || text.length > 2000) return false;
  const { protocol, hostname, hash, username, password } = new URL(text);
  const isSafe =
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127[.]0[.]0[.]1)$/.test(hostname));
  return isSafe && hash === '' && username === '' && password === '';
}

/** URL to which events are pushed (RFC 8935). */
export const IsReceiverUrl = (): PropertyDecorator =>
  applyDecorators(Satisfies(isReceiverUrl, reports('receiver_url_invalid')), IsString());

/** Value of the header Authorization of each push. */
export const IsReceiverHeader = (): PropertyDecorator =>
  applyDecorators(
    Matches(/^[!-~]+(?: [!-~]+)*$/, reports('receiver_header_invalid')),
    Length(1, 2000, reports('receiver_header_invalid')),
    IsString(),
  );
