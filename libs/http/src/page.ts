/** What pages that a service makes by itself have alike: the product's colours, and headers that let nothing in from elsewhere. */
import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

/** Those of the console's tokens (apps/console/web/styles/tokens.css), by the same names. */
const colours = `:root { color-scheme: light dark;
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

export interface FramedPage {
  readonly title: string;
  /** All of its body. */
  readonly body: Html;
  /** What runs on it, and calls nothing but where it comes from; most pages need none. */
  readonly script?: string | undefined;
}

/** A page as it is answered. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Pages of one style, under a name that follows each title. Nothing runs but what the page has, nothing is fetched from
 * elsewhere, forms go back to where the page came from, and no page frames it.
 */
export function createPageFrame({
  name,
  style: own,
}: {
  readonly name: string;
  readonly style: string;
}): (page: FramedPage) => RenderedPage {
  const style = colours + own;
  const styleHash = hashOf(style);
  return ({ title, body, script }) => {
    const runs = script === undefined ? '' : `script-src ${hashOf(script)}; connect-src 'self'; `;
    const page = html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${name}</title>
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
        'content-security-policy': `default-src 'none'; style-src ${styleHash}; ${runs}base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        // Forms say where they come from; other sites hear nothing, of the link of a mail either.
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      },
      body: `<!doctype html>\n${page.text}\n`,
    };
  };
}
