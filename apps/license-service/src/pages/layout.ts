/** What all pages have: a frame, the colours of the product, and headers that let nothing in from elsewhere. No script. */
import { createHash } from 'node:crypto';
import { Html, html } from '@muster/http';
import { type FastifyReply } from 'fastify';

const style = `
:root { color-scheme: light dark;
  --paper: light-dark(oklch(0.972 0.003 95), oklch(0.185 0.006 255)); --surface: light-dark(oklch(1 0 0), oklch(0.228 0.007 255));
  --line: light-dark(oklch(0.25 0.01 255 / 0.1), oklch(1 0 0 / 0.09)); --field: light-dark(oklch(0.62 0.01 255), oklch(0.56 0.012 255));
  --ink: light-dark(oklch(0.255 0.012 255), oklch(0.935 0.004 95)); --muted: light-dark(oklch(0.478 0.012 255), oklch(0.735 0.01 255));
  --accent: light-dark(oklch(0.475 0.09 180), oklch(0.8 0.105 178)); --accent-ink: light-dark(oklch(1 0 0), oklch(0.2 0.03 180));
  --red: light-dark(oklch(0.515 0.175 27), oklch(0.765 0.13 25)); --amber: light-dark(oklch(0.52 0.115 62), oklch(0.83 0.12 78));
  --green: light-dark(oklch(0.49 0.115 150), oklch(0.81 0.13 152)) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; font: 0.9375rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem }
main.narrow, header.narrow { max-width: 36rem }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding-top: 1.5rem }
header form { margin: 0 }
.mark { font-weight: 600; color: inherit; text-decoration: none }
section { margin-bottom: 1rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface) }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.3; overflow-wrap: anywhere }
h2 { margin: 0 0 .75rem; font-size: 1.125rem; line-height: 1.3 }
p { margin: 0 0 .75rem; max-width: 44rem }
p:last-child, ul:last-child, dl:last-child { margin-bottom: 0 }
label { display: block; margin-bottom: .35rem; font-weight: 500 }
.ask { display: flex; flex-wrap: wrap; gap: .5rem }
.ask input { flex: 1 1 14rem }
input { width: 100%; min-height: 2.5rem; padding: .4rem .7rem; border: 1px solid var(--field); border-radius: .5rem; font: inherit; color: inherit; background: transparent }
button { min-height: 2.5rem; padding: .4rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; font: inherit; font-weight: 500; color: var(--accent-ink); background: var(--accent); cursor: pointer }
button.second { color: var(--accent); background: transparent }
a { color: var(--accent) }
ul { margin: 0; padding: 0; list-style: none }
li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding: .75rem 0; border-top: 1px solid var(--line) }
li:first-child { border-top: 0; padding-top: 0 }
li:last-child { padding-bottom: 0 }
li > div { flex: 1 1 16rem; min-width: 0 }
ul + p { margin-top: 1rem }
li form { margin: 0 }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .35rem 1rem; margin: 0 }
dt { color: var(--muted) }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.quiet { color: var(--muted); font-size: .8125rem }
.wide { overflow-wrap: anywhere }
.state { font-weight: 600; white-space: nowrap }
.active { color: var(--green) } .unactivated { color: var(--muted) } .expired, .suspended { color: var(--amber) } .revoked, .bad { color: var(--red) }
.bad { font-weight: 600 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`;

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** What stands at its head beside the mark. */
  readonly beside?: Html;
  readonly isNarrow?: boolean;
}

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src ${styleHash}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Forms say where they come from; other sites hear nothing, of the link of a mail either.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export function sendPage(
  reply: FastifyReply,
  { title, body, status = 200, beside, isNarrow = false }: Page,
): FastifyReply {
  const width = isNarrow ? 'narrow' : '';
  const page = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>${title} · Licenses</title>
      ${new Html(`<style>${style}</style>`)}
    </head>
    <body>
      <header class="${width}"><span class="mark">Licenses</span>${beside ?? null}</header>
      <main class="${width}">${body}</main>
    </body>
  </html>`;
  return reply.code(status).headers(headers).send(`<!doctype html>\n${page.text}\n`);
}

/** A time as people read it, in UTC, which it says. */
export const moment = (at: string | null, none = '–'): string =>
  at === null ? none : `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;

export const day = (at: string | null, none: string): string => (at === null ? none : at.slice(0, 10));
