/** The page that makes a GitHub App: a form that posts the manifest to GitHub. It has no script. */
import { createHash } from 'node:crypto';
import { type AppPage } from '@muster/forges';

const style = `
:root { color-scheme: light dark; --text: #1c1c1e; --back: #fff; --edge: #8e8e93; --alert: #b00020 }
@media (prefers-color-scheme: dark) { :root { --text: #f2f2f7; --back: #1c1c1e; --edge: #8e8e93; --alert: #ff8a9b } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34em; margin: 4em auto; padding: 0 1em; color: var(--text); background: var(--back) }
label, input, button, .button { font: inherit }
label, input { display: block }
input { width: 100%; box-sizing: border-box; margin: .3em 0 1em; padding: .5em; border: 1px solid var(--edge); border-radius: 4px; color: inherit; background: inherit }
button, .button { display: inline-block; padding: .5em 1.2em; border: 1px solid var(--text); border-radius: 4px; background: var(--text); color: var(--back); text-decoration: none; cursor: pointer }
button.second { background: var(--back); color: var(--text) }
[role=alert] { color: var(--alert) }
form { margin: 1.5em 0 }
`;

export interface AppPageOptions {
  /** The address that opened it. */
  readonly ticket: string;
  readonly path: string;
  readonly organization: string | undefined;
  /** GitHub sent the browser here with a code. */
  readonly isMade: boolean;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '');

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${title} · Muster</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;

const again = '<meta http-equiv="refresh" content="2">\n';

export function forgeAppPage(shown: AppPage, { ticket, path, organization, isMade }: AppPageOptions): string {
  if (shown.state === 'made') {
    const install = `<p><a class="button" href="${escaped(shown.installUrl)}">Install it on repositories</a></p>`;
    return page(
      'The GitHub App is made',
      `<p>Muster has its keys. What is left is to install it where the code is, and to link those repositories to projects by <code>forges.repositories.link</code>.</p>\n${install}`,
    );
  }
  if (shown.state === 'taken')
    return page(
      'This connection has credentials',
      '<p>Take them away by <code>forges.update</code> first, then ask for a new page with <code>rotateSecret</code>.</p>',
    );
  if (isMade && shown.failure === null)
    return page('One moment', '<p>GitHub made the app. Muster is fetching its keys.</p>', again);
  const failure =
    shown.failure === null
      ? ''
      : `<p role="alert">The app that was made is of no use: ${escaped(shown.failure)}. Delete it at GitHub, and make another.</p>\n`;
  const owner = organization === undefined ? 'your own account' : escaped(organization);
  return page(
    'Make a GitHub App',
    `${failure}<p>GitHub makes an app that tells Muster of pull requests and checks, and shows the check <code>muster</code>. It reads code, pull requests and checks, and writes checks. GitHub asks you before it makes it.</p>
<form action="${escaped(shown.action)}" method="post">
<input type="hidden" name="manifest" value="${escaped(shown.manifest)}">
<button>Make the app for ${owner}</button>
</form>
<form action="${escaped(path)}" method="get">
<input type="hidden" name="ticket" value="${escaped(ticket)}">
<label for="organization">Or of an organization at GitHub</label>
<input id="organization" name="organization" required maxlength="39" autocomplete="off" spellcheck="false" value="${escaped(organization ?? '')}">
<button class="second">Choose it</button>
</form>`,
  );
}

export const refusedPage = (message: string): string =>
  page(
    'This page is over',
    `<p role="alert">${escaped(message)}</p>\n<p>An admin gets another one by <code>forges.update</code> with <code>rotateSecret</code>.</p>`,
  );

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** Nothing runs, nothing looks like anything but the one style, and forms go nowhere but here and to the forge. */
export const appPageHeaders = (forge: string | undefined): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${styleHash}`,
    "base-uri 'none'",
    `form-action 'self'${forge === undefined ? '' : ` ${forge}`}`,
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  // The address has the ticket in it.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});
