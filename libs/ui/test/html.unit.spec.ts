import fc from 'fast-check';
import { html } from '#ui/html.js';

describe('html', () => {
  it('escapes values in content and in attributes', () => {
    const hostile = `<script>alert("1" + '2' + \`3\`)</script>&amp;`;
    const { text } = html`<p title="${hostile}">${hostile}</p>`;
    const safe = '&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39; + &#96;3&#96;)&lt;/script&gt;&amp;amp;';
    expect(text).toBe(`<p title="${safe}">${safe}</p>`);
  });

  it('outputs no value that could end an element or an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const { text } = html`${value}`;
        expect(text).not.toMatch(/[<>"'`]/);
        expect(text.replaceAll(/&(amp|lt|gt|quot|#39|#96);/g, '')).not.toContain('&');
      }),
    );
  });

  it('outputs no character that changes the text direction after the value', () => {
    const unit = fc.constantFrom(
      ...'\u202a \u202b \u202c \u202d \u202e \u2066 \u2067 \u2068 \u2069 a א <'.split(' '),
    );
    fc.assert(
      fc.property(fc.string({ unit }), (value) => {
        const { text } = html`<p title="${value}">${value}</p>`;
        // Removes balanced isolates that contain no control characters.
        expect(text.replaceAll(/\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069/g, '')).not.toMatch(
          /[\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
    expect(html`<bdi>${'invoice\u202egnp.exe'}</bdi>`.text).toBe('<bdi>invoice\ufffdgnp.exe</bdi>');
    // Directional marks affect only adjacent characters, and Arabic dates need them.
    expect(html`${'\u200fא\u200e'}`.text).toBe('\u200fא\u200e');
  });

  it('does not escape nested markup again', () => {
    const items = ['a<b', 'c'].map((item) => html`<li>${item}</li>`);
    expect(html`${items}`.text).toBe('<li>a&lt;b</li><li>c</li>');
  });

  it('rejects an object that only resembles markup', () => {
    const fake = { text: '<b>' } as unknown as string;
    expect(() => html`${fake}`.text).toThrow();
  });

  it('omits absent values', () => {
    expect(html`[${null}${undefined}${false}${0}${''}]`.text).toBe('[0]');
  });
});
