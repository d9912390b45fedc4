/** How the e-mail of an invitation reads. */
import { type GivenRole } from '@muster/registry';
import { readable } from './readable.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** What to follow, as it stands in the text. It has a secret in it: not for a log. */
  readonly link: string;
}

export interface InvitationFacts {
  readonly to: string;
  readonly role: GivenRole;
  readonly inviter: string;
  readonly organization: string;
  readonly expiresAt: string;
  /** Where an invitation is accepted: GET shows a form, POST takes it. */
  readonly url: string;
  readonly secret: string;
}

const roleNames: Readonly<Record<GivenRole, string>> = {
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export function invitationMail(facts: InvitationFacts): Mail {
  const { inviter, organization, role, url, secret } = facts;
  // After the `#` it stays in the browser: no log of a request ever has it.
  const link = `${url}#token=${secret}`;
  const who = `${inviter} invites you to ${organization} on Muster, as ${roleNames[role]}.`;
  const until = `The invitation is good until ${readable(facts.expiresAt)}, and for you alone: whoever has it can join in your place.`;
  const why = 'If you did not expect it, leave it alone and nothing happens.';
  const terminal = 'Or accept it in a terminal; the answer has your token, and shows it only once:';
  const command = `curl -X POST ${url} \\
  -H 'content-type: application/json' \\
  -d '{"token": "${secret}", "name": "Your Name"}'`;
  return {
    to: facts.to,
    subject: `${inviter} invites you to ${organization} on Muster`,
    link,
    text: `${who}\n\nTo accept, open this page:\n${link}\n\n${terminal}\n${command}\n\n${until}\n${why}\n`,
    html: `<!doctype html>
<html lang="en"><body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
<p>${escaped(who)}</p>
<p><a href="${escaped(link)}">Accept the invitation</a></p>
<p>${escaped(terminal)}</p>
<pre style="background: #f4f4f4; padding: 1em; overflow: auto">${escaped(command)}</pre>
<p>${escaped(until)}<br>${escaped(why)}</p>
</body></html>
`,
  };
}
