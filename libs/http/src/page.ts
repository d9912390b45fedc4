/**
 * Renders the pages of services with the styles of the product, and with headers that block all content from other
 * origins.
 */
import { createHash } from 'node:crypto';
import { logoSvg } from '@muster/contract';
import { type FastifyReply } from 'fastify';
import { Html, html } from './html.ts';
import { readStyles } from './look.ts';

export interface PageFrameOptions {
  readonly title: string;
  /** The content of `main`: sections, which become cards. */
  readonly body: Html;
  /**
   * The use of the width: cards side by side (the default), two columns (`columns`), or one (`whole`).
   */
  readonly layout?: 'columns' | 'whole' | undefined;
  /** The content of the bar beside the logo. */
  readonly barContent?: Html | undefined;
  /** The description for search engines. Pages without one ask not to be indexed. */
  readonly summary?: string;
  /** The script of the page, which may call only its own origin. Most pages need none. */
  readonly script?: string | undefined;
  /** The origin of another site to which its forms may be sent. */
  readonly formActionSource?: string | undefined;
  /** True if the address contains a secret, which must not be sent as a referrer. */
  readonly isUrlSecret?: boolean;
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Replaces the status of an error. */
  readonly status?: number;
}

export const sendRenderedPage = (
  reply: FastifyReply,
  { headers, body }: RenderedPage,
  status = reply.statusCode,
): FastifyReply => reply.code(status).headers(headers).send(body);

const cspHashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Creates pages with the logo and a name at the top. Only the page's own script runs, and nothing is fetched from
 * other origins. Forms go to the page's own origin unless it names another one, and no page can be framed.
 */
export function createPageFrame({
  name = 'Muster',
  homePath,
  style: own = '',
}: {
  readonly name?: string;
  /** The path that the logo links to; no link without one. */
  readonly homePath?: string;
  /** Styles that only these pages need. */
  readonly style?: string;
} = {}): (page: PageFrameOptions) => RenderedPage {
  const style = readStyles('tokens', 'base', 'controls', 'page') + own;
  const styleHash = cspHashOf(style);
  const mark = html`${new Html(logoSvg.replace('<svg', '<svg aria-hidden="true"'))}${name}`;
  const brand =
    homePath === undefined
      ? html`<span class="brand">${mark}</span>`
      : html`<a class="brand" href="${homePath}">${mark}</a>`;
  return ({
    title,
    body,
    layout,
    barContent,
    summary,
    script,
    formActionSource: formsTo,
    isUrlSecret: isAddressSecret = false,
  }) => {
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
        <header class="bar">${brand}${barContent ?? null}</header>
        <main ${layout === undefined ? null : html`data-layout="${layout}"`}>${body}</main>
        ${script === undefined ? null : new Html(`<script>${script}</script>`)}
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
