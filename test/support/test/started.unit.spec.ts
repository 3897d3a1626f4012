import { started } from '../started.js';

describe('an object that a hook fills', () => {
  it('throws if a field is read before the hook', () => {
    const app = started() as { url: string };
    expect(() => app.url).toThrow(/has not started/);
    expect(() => ({ ...app })).toThrow(/has not started/);
    Object.assign(app, { url: 'http://localhost' });
    expect({ ...app }).toEqual({ url: app.url });
  });
});
