/** The page that the browser shows after sign-in. It runs no script, loads nothing, and is not cached. */
import { createHash } from 'node:crypto';
import { type ServerResponse } from 'node:http';

export interface LoopbackPage {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const returnToTerminalText = 'You can close this page and return to the terminal.';
export const loopbackPages = {
  signedIn: { status: 200, title: 'You are signed in', text: returnToTerminalText },
  refused: { status: 200, title: 'Not signed in', text: returnToTerminalText },
  failed: {
    status: 502,
    title: 'Sign-in failed',
    text: 'The terminal shows the reason. You can close this page.',
  },
  unknown: {
    ...{ status: 400, title: 'Nothing to do here' },
    text: 'This is not the response that the terminal waits for. You can close this page.',
  },
} as const satisfies Record<string, LoopbackPage>;

const pageStyle = `
:root { color-scheme: light dark }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 27rem; margin: 0 auto; padding: 12vh 1rem 2rem }
p { margin: 0 }
.mark { font-weight: 700; letter-spacing: .02em }
h1 { margin: 1rem 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
`;
const styleHash = createHash('sha256').update(pageStyle).digest('base64');

export function sendLoopbackPage(response: ServerResponse, { status, title, text }: LoopbackPage): void {
  response
    .writeHead(status, {
      ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', connection: 'close' },
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      // The address contains the code, which is already used.
      ...{ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
    })
    .end(
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Muster</title><style>${pageStyle}</style></head><body><main><p class="mark">Muster</p><h1>${title}</h1><p>${text}</p></main></body></html>\n`,
    );
}
