/** The e-mail with a sign-in link. */
import { type Mail } from '@muster/outbound/mail';
import { type LinkSecrets, linkLifetimeMinutes } from './data/links.ts';
import { formatCode } from './data/typed-codes.ts';
import { html } from '@muster/http';

export function buildLinkMail(to: string, baseUrl: string, { secret, code }: LinkSecrets): Mail {
  const link = `${baseUrl}/auth/link?token=${secret}`;
  const typed = formatCode(code);
  const where = `Open the link within ${linkLifetimeMinutes} minutes, in the browser in which you requested it. Or enter this code there:`;
  const why =
    'Don’t share the code: anyone who has it can sign in as you. If you didn’t request this e-mail, you can ignore it.';
  return {
    to,
    subject: 'Sign in to Muster',
    text: `This link signs you in to Muster:\n${link}\n\n${where}\n\n    ${typed}\n\n${why}\n`,
    html: `<!doctype html>
${
  html`<html lang="en">
    <body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
      <p><a href="${link}">Sign in to Muster</a></p>
      <p>${where}</p>
      <p style="font-size: 1.6em; letter-spacing: .1em">${typed}</p>
      <p>${why}</p>
    </body>
  </html>`.text
}
`,
  };
}
