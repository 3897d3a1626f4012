import { createHash } from 'node:crypto';
import request from 'supertest';
import { ERROR_GUIDE } from '#oauth/error-guide/error-guide.js';
import { useTokenApp } from './use-token-app.js';

const app = useTokenApp();

const page = () => request(app.server).get('/api/auth/oauth/errors').expect(200);

describe('the page of errors (RFC 6749 5.2, error_uri)', () => {
  it('has an entry at every address that an error can have', async () => {
    const { text, headers } = await page();
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const ids = [...text.matchAll(/<article id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(ERROR_GUIDE.flatMap(({ entries }) => entries.map(({ anchor }) => anchor)));
  });

  it('loads, executes, sends and frames nothing', async () => {
    const { text, headers } = await page();
    const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? '';
    const digest = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text).not.toMatch(/<script|<form|<img|<link|style="| on\w+="|src=|href="(?!#)/i);
  });

  it('has one language, one main part, headings in order, and fits a telephone (WCAG 2.2)', async () => {
    const { text } = await page();
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(text.match(/<main>/g)).toHaveLength(1);
    const levels = [...text.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    levels.reduce((before, level) => {
      expect(level).toBeLessThanOrEqual(before + 1);
      return level;
    });
  });

  it('marks code and escapes everything else', async () => {
    const { text } = await page();
    expect(text).toContain('<code>Authorization: Bearer &lt;access token&gt;</code>');
    expect(text).not.toContain('`');
  });

  it('answers no other method', async () => {
    const answer = await request(app.server).post('/api/auth/oauth/errors').send({}).expect(405);
    expect(answer.body).toMatchObject({
      error: 'method_not_allowed',
      error_uri: expect.stringMatching(/\/errors#method_not_allowed$/),
    });
  });
});

describe('error_uri', () => {
  // @rfc 6749 5.2
  it.each([
    ['a code that is none', { code: 'x', redirect_uri: 'https://app.example.com/callback' }, 'not_ours'],
    ['a missing parameter', {}, 'parameters'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('leads to the check that failed: %s', async (_name, parameters, anchor) => {
    const { body } = await app.post('token', {
      grant_type: 'authorization_code',
      ...app.ours,
      ...parameters,
    });
    expect(body.error_uri).toBe(`https://base.example.com/api/auth/oauth/errors#${anchor}`);
  });

  it('leads to the same place for an unknown client and for a wrong secret', async () => {
    const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://app.example.com/' };
    const [unknown, wrong] = [
      await app.post('token', { ...code, client_id: 'sc_nobody', client_secret: 'x' }),
      await app.post('token', { ...code, ...app.ours, client_secret: 'x' }),
    ];
    expect(unknown?.body.error_uri).toMatch(/#client_credentials$/);
    expect(wrong?.body.error_uri).toBe(unknown?.body.error_uri);
  });
});
