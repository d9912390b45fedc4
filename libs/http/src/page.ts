/**
 * Renders the pages of services with the product's common style, and with headers that block all content from
 * other origins.
 */
import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

/** Colors with the names and values of the console's tokens (apps/console/web/styles/tokens.css). */
const colorStyle = `:root { color-scheme: light dark;
  --font: Inter, ui-sans-serif, -apple-system, BlinkMacSystemFont, 'Segoe UI Variable Text', 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif;
  --paper: light-dark(oklch(0.972 0.003 95), oklch(0.185 0.006 255)); --surface: light-dark(oklch(1 0 0), oklch(0.228 0.007 255));
  --line: light-dark(oklch(0.25 0.01 255 / 0.1), oklch(1 0 0 / 0.09)); --field-line: light-dark(oklch(0.62 0.01 255), oklch(0.56 0.012 255));
  --ink: light-dark(oklch(0.255 0.012 255), oklch(0.935 0.004 95)); --muted: light-dark(oklch(0.478 0.012 255), oklch(0.735 0.01 255));
  --accent: light-dark(oklch(0.475 0.09 180), oklch(0.8 0.105 178)); --accent-ink: light-dark(oklch(1 0 0), oklch(0.2 0.03 180));
  --red: light-dark(oklch(0.515 0.175 27), oklch(0.765 0.13 25)); --amber: light-dark(oklch(0.52 0.115 62), oklch(0.83 0.12 78));
  --green: light-dark(oklch(0.49 0.115 150), oklch(0.81 0.13 152)) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; color: var(--ink); background: var(--paper) }
a { color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`;

/** The style of a page for a single task: a brand mark, with sections below each other. */
const narrowStyle = `
body { font: 16px/1.5 var(--font) }
main { max-width: 27rem; margin: 0 auto; padding: 8vh 1rem 2rem }
.mark { margin: 0 0 1rem; font-weight: 700; letter-spacing: .02em }
section { padding: 1.5rem; border-radius: 12px; background: var(--surface); box-shadow: 0 0 0 1px color-mix(in srgb, var(--field-line) 35%, transparent) }
section + section { margin-top: 1rem }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
h2 { margin: 0 0 .5rem; font-size: 1.05rem }
p { margin: 0 0 1rem }
p:last-child, form:last-child { margin-bottom: 0 }
form { margin: 0 0 1rem }
label { display: block; margin-bottom: .35rem; font-weight: 600 }
input { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--field-line); border-radius: 8px;
  font: inherit; color: inherit; background: transparent }
button, .button { display: inline-block; width: 100%; min-height: 2.75rem; padding: .55rem 1rem; border: 1px solid var(--accent); border-radius: 8px;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--accent-ink); background: var(--accent); cursor: pointer }
button:disabled { opacity: .5; cursor: default }
.second { color: var(--accent); background: transparent }
.quiet { color: var(--muted); font-size: .925rem }
.bad { color: var(--red); font-weight: 600 }
.wide { overflow-wrap: anywhere }
`;

export interface PageFrameOptions {
  readonly title: string;
  /** The complete body. */
  readonly body: Html;
  /** The description for search engines. Pages without one ask not to be indexed. */
  readonly summary?: string;
  /** The script of the page, which may call only its own origin. Most pages need none. */
  readonly script?: string | undefined;
  /** The origin of another site to which its forms may be sent. */
  readonly formsTo?: string | undefined;
  /** True if the address contains a secret, which must not be sent as a referrer. */
  readonly isAddressSecret?: boolean;
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Replaces the status of an error. */
  readonly status?: number;
}

const cspHashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Creates pages of one style, with a name after each title. Only the page's own script runs, and nothing is
 * fetched from other origins. Forms go to the page's own origin unless it names another one, and no page can
 * be framed.
 */
export function createPageFrame({
  name,
  style: own,
}: {
  readonly name: string;
  readonly style: string;
}): (page: PageFrameOptions) => RenderedPage {
  const style = colorStyle + own;
  const styleHash = cspHashOf(style);
  return ({ title, body, summary, script, formsTo, isAddressSecret = false }) => {
    const runs = script === undefined ? '' : `script-src ${cspHashOf(script)}; connect-src 'self'; `;
    const page = html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${summary === undefined ? html`<meta name="robots" content="noindex" />` : html`<meta name="description" content="${summary}" />`}
        <title>${title === name ? name : `${title} · ${name}`}</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        ${body} ${script === undefined ? null : new Html(`<script>${script}</script>`)}
      </body>
    </html>`;
    return {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': `default-src 'none'; style-src ${styleHash}; ${runs}base-uri 'none'; form-action 'self'${formsTo === undefined ? '' : ` ${formsTo}`}; frame-ancestors 'none'`,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        // Forms need the referrer within this origin. Other sites never receive it, not even the link of an
        // e-mail.
        'referrer-policy': isAddressSecret ? 'no-referrer' : 'same-origin',
        'x-content-type-options': 'nosniff',
      },
      body: `<!doctype html>\n${page.text}\n`,
    };
  };
}

/** Creates pages for a single task: the name as a brand mark, with sections below each other. */
export function createNarrowFrame({
  name,
  style,
}: {
  readonly name: string;
  readonly style: string;
}): (page: PageFrameOptions) => RenderedPage {
  const frame = createPageFrame({ name, style: narrowStyle + style });
  return ({ body, ...page }) =>
    frame({
      ...page,
      body: html`<main>
        <p class="mark">${name}</p>
        ${body}
      </main>`,
    });
}
