/** The index page of the pictures. */
export function galleryOf(scenes: readonly { readonly name: string }[], variants: readonly string[]): string {
  const head = [
    '# Screenshots',
    '',
    'Every page in every state, made by `npm run screenshots`: a real Chromium, and the same people, applications, dates',
    'and fonts every time. `npm run screenshots -- consent apps` makes some of them.',
  ];
  const rows = scenes.flatMap(({ name }) => [
    '',
    `## ${name}`,
    '',
    variants.map((variant) => `![${name}, ${variant}](${name}-${variant}.png)`).join(' '),
  ]);
  return [...head, ...rows, ''].join('\n');
}
