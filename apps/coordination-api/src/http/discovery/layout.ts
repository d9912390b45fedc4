/** A page of Markdown as HTML that stands alone: no script, no font, nothing fetched. */
import { createHash } from 'node:crypto';
import { anchorOf } from '@muster/reference';
import { Marked } from 'marked';

const style = `
:root { color-scheme: light dark; --text: #1c1c1e; --back: #fff; --soft: #f2f2f7; --line: #d1d1d6; --link: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --text: #e5e5ea; --back: #161618; --soft: #242427; --line: #3a3a3c; --link: #8ab4f8 } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 60em; margin: 0 auto; padding: 1.5em 1em 4em }
a { color: var(--link) } nav { margin-bottom: 2em }
h2 { margin-top: 2.2em; border-top: 1px solid var(--line); padding-top: 1em } h3 { font-size: 1em; margin-top: 1.6em }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px }
code { padding: .1em .3em; overflow-wrap: anywhere } pre { padding: 1em; overflow: auto } pre code { padding: 0; background: none }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .93em }
td, th { border: 1px solid var(--line); padding: .35em .6em; text-align: left; vertical-align: top }
`;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const marked = new Marked({
  renderer: {
    heading({ depth, tokens, text }) {
      const place = depth === 2 ? ` id="${escape(anchorOf(text))}"` : '';
      return `<h${depth}${place}>${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // The language may be followed by a title in brackets.
    code({ text, lang = '' }) {
      const [, title = ''] = /\[(.+)\]/.exec(lang) ?? [];
      return `${title === '' ? '' : `<p>${escape(title)}</p>`}<pre><code>${escape(text)}</code></pre>\n`;
    },
    table({ header, rows }) {
      const cells = (tag: string, row: typeof header): string =>
        `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = rows.map((row) => cells('td', row)).join('\n');
      return `<div class="wide"><table><thead>${cells('th', header)}</thead><tbody>\n${body}\n</tbody></table></div>\n`;
    },
  },
});

export function htmlPage({
  title,
  summary,
  markdown,
}: {
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escape(summary)}">
<title>${escape(title === 'Muster' ? title : `${title} · Muster`)}</title>
<style>${style}</style>
</head>
<body>
<nav><a href="/">Muster</a> · <a href="/reference">Reference</a></nav>
<main>
${marked.parse(markdown, { async: false })}</main>
</body>
</html>
`;
}

/** Nothing runs, and nothing looks like anything but the one style. */
export const htmlHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};
