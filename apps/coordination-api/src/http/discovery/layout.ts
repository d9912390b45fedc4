/** Renders Markdown as a self-contained HTML page, without scripts, fonts or other requests. */
import { createPageFrame, Html, html, readStyles, type RenderedPage } from '@muster/http';
import { anchorOf } from '@muster/reference';
import { Marked } from 'marked';

const pageFrame = createPageFrame({
  homePath: '/',
  style: `${readStyles('prose')}
main[data-layout] { grid-template-columns: minmax(0, 1fr); column-gap: var(--s7) }
.wide { overflow-x: auto }
.wide table { display: table }
.prose :is(td, th) { vertical-align: top }
.contents { display: none }
.contents li { padding-block: var(--s1); overflow-wrap: anywhere }
@media (min-width: 64rem) {
  main:has(.contents) { grid-template-columns: minmax(0, 1fr) 18rem }
  .contents { display: block; position: sticky; inset-block-start: 0; max-block-size: 100vh; padding-block: var(--s4); overflow-y: auto; font-size: var(--text-fact) }
}
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
      return `${title === '' ? '' : `<p>${escape(title)}</p>`}<pre tabindex="0"><code>${escape(text)}</code></pre>\n`;
    },
    table({ header, rows }) {
      const cells = (tag: string, row: typeof header): string =>
        `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = rows.map((row) => cells('td', row)).join('\n');
      return `<div class="wide" tabindex="0"><table><thead>${cells('th', header)}</thead><tbody>\n${body}\n</tbody></table></div>\n`;
    },
  },
});

interface HtmlPageContent {
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}

/** Links to the sections of a page with several of them, for windows with room for it. */
function contentsOf(markdown: string): Html | null {
  const headings = marked
    .lexer(markdown)
    .flatMap((token) => (token.type === 'heading' && token['depth'] === 2 ? [String(token['text'])] : []));
  return headings.length < 3
    ? null
    : html`<nav class="contents" aria-labelledby="contents">
        <h2 id="contents">On this page</h2>
        <ul>
          ${headings.map((text) => html`<li><a href="#${anchorOf(text)}">${text.replaceAll('`', '')}</a></li>`)}
        </ul>
      </nav>`;
}

export function renderHtmlPage({ title, summary, markdown }: HtmlPageContent): RenderedPage {
  return pageFrame({
    ...{ title, summary, layout: 'whole' },
    barContent: html`<nav aria-label="Main"><a href="/reference">Reference</a></nav>`,
    body: html`<article class="prose" data-below="1">
        ${new Html(marked.parse(markdown, { async: false }))}
      </article>
      ${contentsOf(markdown)}`,
  });
}
