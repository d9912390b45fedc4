/** Renders Markdown as a self-contained HTML page, without scripts, fonts or other requests. */
import { createPageFrame, Html, html, type RenderedPage } from '@muster/http';
import { anchorOf } from '@muster/reference';
import { Marked } from 'marked';

const pageFrame = createPageFrame({
  name: 'Muster',
  style: `
body { font: 16px/1.55 var(--font); padding: 1.5em 1em 4em }
nav, main { max-width: 60em; margin: 0 auto; overflow-wrap: break-word } nav { margin-bottom: 2em }
h2 { margin-top: 2.2em; border-top: 1px solid var(--line); padding-top: 1em } h3 { font-size: 1em; margin-top: 1.6em }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--surface); border-radius: 4px }
code { padding: .1em .3em; overflow-wrap: anywhere } pre { padding: 1em; overflow: auto } pre code { padding: 0; background: none }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .93em }
td, th { border: 1px solid var(--line); padding: .35em .6em; text-align: left; vertical-align: top }
`,
});

const escape = (text: string): string => html`${text}`.text;

const marked = new Marked({
  renderer: {
    heading({ depth, tokens, text }) {
      const place = depth === 2 ? ` id="${escape(anchorOf(text))}"` : '';
      return `<h${depth}${place}>${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // In a fenced code block, a title in brackets may follow the language.
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

interface HtmlPageContent {
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}

export function renderHtmlPage({ title, summary, markdown }: HtmlPageContent): RenderedPage {
  return pageFrame({
    ...{ title, summary },
    body: html`<nav><a href="/">Muster</a> · <a href="/reference">Reference</a></nav>
      <main>${new Html(marked.parse(markdown, { async: false }))}</main>`,
  });
}
