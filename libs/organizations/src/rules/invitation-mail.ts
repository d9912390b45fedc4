/** The text of the e-mail of an invitation. */
import { type GivenRole } from '@muster/contract';
import { formatReadableTime } from './readable.ts';

export interface InvitationMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The link to the acceptance page, as in the text. It contains the secret, so it must not be logged. */
  readonly link: string;
}

export interface InvitationMailContent {
  readonly to: string;
  readonly role: GivenRole;
  readonly inviter: string;
  readonly organization: string;
  readonly expiresAt: string;
  /** The URL for acceptance: GET shows a form, and POST accepts. */
  readonly url: string;
  readonly secret: string;
}

const roleNames: Readonly<Record<GivenRole, string>> = {
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export function renderInvitationMail(content: InvitationMailContent): InvitationMail {
  const { inviter, organization, role, url, secret } = content;
  // Browsers do not send the part after `#`, so no request log contains the secret.
  const link = `${url}#token=${secret}`;
  const who = `${inviter} invited you to join ${organization} on Muster as ${roleNames[role]}.`;
  const until = `The invitation expires on ${formatReadableTime(content.expiresAt)}. Don’t forward it: anyone who has it can join in your place.`;
  const why = 'If you didn’t expect this invitation, you can ignore it.';
  const terminal = 'Or accept it in a terminal. The response contains your token, which is shown only once:';
  const command = `curl -X POST ${url} \\
  -H 'content-type: application/json' \\
  -d '{"token": "${secret}", "name": "Your Name"}'`;
  return {
    to: content.to,
    subject: `${inviter} invited you to ${organization} on Muster`,
    link,
    text: `${who}\n\nTo accept, open this page:\n${link}\n\n${terminal}\n${command}\n\n${until}\n${why}\n`,
    html: `<!doctype html>
<html lang="en"><body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
<p>${escapeHtml(who)}</p>
<p><a href="${escapeHtml(link)}">Accept the invitation</a></p>
<p>${escapeHtml(terminal)}</p>
<pre style="background: #f4f4f4; padding: 1em; overflow: auto">${escapeHtml(command)}</pre>
<p>${escapeHtml(until)}<br>${escapeHtml(why)}</p>
</body></html>
`,
  };
}
