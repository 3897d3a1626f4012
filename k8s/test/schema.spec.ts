import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';

describe.each(OVERLAYS)('the %s overlay', (overlay) => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await render(`overlays/${overlay}`);
  });

  it('is valid for the Kubernetes API', async () => {
    expect(await problemsOf(manifests)).toEqual([]);
  });

  it('contains every object exactly once', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata?.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const app of ['authorize', 'token', 'resource'])
      for (const kind of ['Deployment', 'Service', 'ServiceAccount', 'Ingress', 'NetworkPolicy'])
        expect(names).toContain(`${kind} ${app}`);
    for (const app of ['authorize', 'token', 'resource'])
      for (const kind of ['PodDisruptionBudget', 'HorizontalPodAutoscaler'])
        expect(names).toContain(`${kind} ${app}`);
    expect(names).toEqual(expect.arrayContaining(['Job migrate', 'Deployment operator']));
  });

  it('is in one namespace, and contains Secrets only if it is the local overlay', () => {
    for (const { kind, metadata } of manifests) {
      if (kind !== 'Namespace') expect(metadata?.namespace).toBe('scheduling-oauth');
      if (kind === 'Secret') expect(overlay).toBe('local');
    }
  });
});

describe('strict validation of manifests', () => {
  let token: Manifest[];
  beforeAll(async () => {
    token = await render('base/token');
  });

  /** Returns the manifests of the token app with a replacement in the Deployment. */
  const changed = (from: string, to: string): Manifest[] =>
    token.map((manifest) => {
      if (manifest.kind !== 'Deployment') return manifest;
      const text = JSON.stringify(manifest);
      expect(text).toContain(from);
      return JSON.parse(text.replace(from, to)) as Manifest;
    });

  it('accepts the unchanged manifests', async () => {
    expect(await problemsOf(token)).toEqual([]);
  });

  it.each([
    ['a misspelt field', '"readOnlyRootF', '"readonlyRootF', /readonlyRootFilesystem is unk/],
    ['a field in the wrong place', '"maxSurge":1', '"maxSurge":1,"minReadySeconds":1', /minReadySeconds is/],
    [
      'a number written as text',
      '"containerPort":3002',
      '"containerPort":"3002"',
      /containerPort must be a number/,
    ],
    ['a missing field', '"containerPort":3002,', '', /containerPort/],
    ['an unknown version', '"apps/v1"', '"apps/v7"', /no Deployment in apps\/v7/],
  ])('rejects %s', async (_what, from, to, problem) => {
    expect(await problemsOf(changed(from, to))).toEqual(
      expect.arrayContaining([expect.stringMatching(problem)]),
    );
  });
});
