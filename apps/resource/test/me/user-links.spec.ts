import { SUBJECTS, type UserUpsertReply } from '#messaging/contract.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

let app: ResourceApp;

beforeAll(async () => {
  app = await startResourceApp({ LOGIN_LINK_BY_EMAIL: 'true' });
});
afterAll(() => app.close());

const upsert = (message: object) => app.ask<UserUpsertReply>(SUBJECTS.userUpsert, message);

describe('oauth.user.upsert with LOGIN_LINK_BY_EMAIL', () => {
  it('links a user without an identity only if the message has link_by_email and email_verified', async () => {
    const id = await app.user();
    const [user] = (await app.sql('SELECT email FROM users WHERE id = $1', [id])) as { email: string }[];
    const issuer = 'https://product.example.com';
    const message = { issuer, email: user?.email, updated_at: '2026-01-01T00:00:00Z' };
    expect(await upsert({ ...message, external_id: 'other' })).toMatchObject({ status: 'created' });
    const link = { ...message, external_id: 'linked', link_by_email: true };
    for (const email_verified of [undefined, false])
      expect(await upsert({ ...link, email_verified })).toEqual({
        status: 'invalid',
        problems: ['link_by_email needs email_verified: true'],
      });
    expect(await upsert({ ...link, email_verified: true })).toMatchObject({ status: 'updated', user_id: id });
  });
});
