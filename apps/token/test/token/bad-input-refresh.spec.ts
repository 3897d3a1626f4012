import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { useBadInput } from '../support/use-bad-input.js';

const { app, good, refuses, ...input } = useBadInput();

const send = () => input.send('refreshToken');
const bearer = (token: string) => send().set('Authorization', `Bearer ${token}`);
const refreshing = () => ({ grant_type: 'refresh_token', ...app.ours });

describe('POST /api/auth/oauth/refreshToken', () => {
  refuses(400, 'invalid_request', {
    'a refresh without a token': () => send().send(refreshing()),
    'a refresh without grant_type': () => bearer(good.refresh_token).send(app.ours),
    'a refresh without a body': () => bearer(good.refresh_token),
    'a refresh without a client': () => bearer(good.refresh_token).send({ grant_type: 'refresh_token' }),
    'a refresh with Basic instead of Bearer': () =>
      send().auth(app.ours.client_id, app.ours.client_secret).send({ grant_type: 'refresh_token' }),
    'a refresh with a malformed Authorization header': () => bearer('a b c').send(refreshing()),
    'a refresh with Bearer but no token': () => send().set('Authorization', 'Bearer').send(refreshing()),
    'a refresh with the token in the header and in the body': () =>
      bearer(good.refresh_token).send({ ...refreshing(), refresh_token: good.refresh_token }),
    'a refresh with the token in the URL': () =>
      input.send(`refreshToken?access_token=${good.refresh_token}`).send(refreshing()),
    'a refresh with an over-long token': () => bearer('x'.repeat(600)).send(refreshing()),
  });

  refuses(400, 'unsupported_grant_type', {
    'a refresh with another grant_type': () => bearer(good.refresh_token).send(app.redemption(good.code)),
  });

  refuses(401, 'invalid_client', {
    'a refresh without client_secret': () =>
      bearer(good.refresh_token).send({ grant_type: 'refresh_token', client_id: app.ours.client_id }),
  });

  refuses(400, 'invalid_grant', {
    'an access token at refreshToken': () => bearer(good.access_token).send(refreshing()),
    'a code at refreshToken': () => bearer(good.code).send(refreshing()),
    'a forged refresh token': () => bearer(`srt_${randomBytes(63).toString('base64url')}`).send(refreshing()),
  });

  refuses(405, 'method_not_allowed', {
    'a wrong method': () => request(app.server).delete('/api/auth/oauth/refreshToken'),
  });
});
