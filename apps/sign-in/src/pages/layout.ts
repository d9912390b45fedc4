/** What all pages have: a frame, one look for light and dark, and headers that let nothing in from elsewhere. */
import { createHash } from 'node:crypto';
import { type FastifyReply } from 'fastify';
import { Html, html } from '../html.ts';

/** The colours and the font are those of the console's tokens (apps/console/web/styles/tokens.css): one product. */
const style = `
:root { color-scheme: light dark;
  --ink: light-dark(oklch(0.255 0.012 255), oklch(0.935 0.004 95)); --quiet: light-dark(oklch(0.478 0.012 255), oklch(0.735 0.01 255));
  --paper: light-dark(oklch(0.972 0.003 95), oklch(0.185 0.006 255)); --card: light-dark(oklch(1 0 0), oklch(0.228 0.007 255));
  --line: light-dark(oklch(0.62 0.01 255), oklch(0.56 0.012 255)); --act: light-dark(oklch(0.475 0.09 180), oklch(0.8 0.105 178));
  --on-act: light-dark(oklch(1 0 0), oklch(0.2 0.03 180)); --bad: light-dark(oklch(0.515 0.175 27), oklch(0.765 0.13 25));
  --font: Inter, ui-sans-serif, -apple-system, BlinkMacSystemFont, 'Segoe UI Variable Text', 'Segoe UI', Roboto, 'Noto Sans',
    'Liberation Sans', sans-serif }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; font: 16px/1.5 var(--font); color: var(--ink); background: var(--paper) }
main { max-width: 27rem; margin: 0 auto; padding: 8vh 1rem 2rem }
.mark { margin: 0 0 1rem; font-weight: 700; letter-spacing: .02em }
section { padding: 1.5rem; border-radius: 12px; background: var(--card); box-shadow: 0 0 0 1px color-mix(in srgb, var(--line) 35%, transparent) }
section + section { margin-top: 1rem }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
h2 { margin: 0 0 .5rem; font-size: 1.05rem }
p { margin: 0 0 1rem }
p:last-child, form:last-child { margin-bottom: 0 }
form { margin: 0 0 1rem }
label { display: block; margin-bottom: .35rem; font-weight: 600 }
input { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 8px;
  font: inherit; color: inherit; background: transparent }
input.code { max-width: 11rem; font-size: 1.4rem; letter-spacing: .2em; font-variant-numeric: tabular-nums }
button, .button { display: inline-block; width: 100%; min-height: 2.75rem; padding: .55rem 1rem; border: 1px solid var(--act); border-radius: 8px;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--on-act); background: var(--act); cursor: pointer }
.second { color: var(--act); background: transparent }
a { color: var(--act) }
select { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 8px;
  font: inherit; color: inherit; background: var(--card) }
fieldset { margin: 0 0 1rem; padding: 0; border: 0 }
legend { margin-bottom: .35rem; padding: 0; font-weight: 600 }
.choice { display: flex; gap: .6rem; align-items: flex-start; margin: 0; padding: .35rem 0; font-weight: 400; overflow-wrap: anywhere }
.choice input { flex: none; width: 1.2rem; min-height: 1.2rem; margin: .15rem 0 0; accent-color: var(--act) }
/* What scrolls clips: the ring of what has the focus needs the room. */
.within { margin: 0 -5px 0 calc(1.8rem - 5px); padding: 5px; max-height: 15rem; overflow: auto }
button + button { margin-top: .6rem }
ul { margin: 0 0 1rem; padding: 0; list-style: none }
li + li { margin-top: .5rem }
li > a, li > span, li > div { display: block; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: 8px; overflow-wrap: anywhere }
li form { margin-top: .6rem }
summary { min-height: 1.75rem; color: var(--act); cursor: pointer }
.quiet { color: var(--quiet); font-size: .925rem }
.bad { color: var(--bad); font-weight: 600 }
.wide { overflow-wrap: anywhere }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
`;

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** What runs on it, and calls nothing but where it comes from; most pages need none. */
  readonly script?: string;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const render = ({ title, body, script }: Page): string =>
  `<!doctype html>\n${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Muster</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <main>
          <p class="mark">Muster</p>
          ${body}
        </main>
        ${script === undefined ? null : new Html(`<script>${script}</script>`)}
      </body>
    </html>`.text
  }\n`;

/** Nothing runs but what the page has, nothing is fetched from elsewhere, forms go back to where the page came from, and no page frames it. */
const headersOf = ({ script }: Page) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src ${hashOf(style)}; ${
    script === undefined ? '' : `script-src ${hashOf(script)}; connect-src 'self'; `
  }base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  // Forms say where they come from; other sites hear nothing.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
});

/** For an answer by other means than Fastify. */
export const renderPage = (page: Page) => ({ headers: headersOf(page), body: render(page) });

export const sendPage = (reply: FastifyReply, page: Page): FastifyReply =>
  reply
    .code(page.status ?? 200)
    .headers(headersOf(page))
    .send(render(page));
