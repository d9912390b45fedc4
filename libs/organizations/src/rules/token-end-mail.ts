/** The text of the e-mail about a token that expires soon. It contains no part of the secret. */
import { readable } from './readable.ts';

export interface TokenEndMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface TokenEnd {
  readonly to: string;
  /** The name of the token. */
  readonly name: string;
  /** The agent's name; null for the member's own token. */
  readonly agent: string | null;
  readonly organization: string;
  readonly expiresAt: string;
}

export function tokenEndMail({ to, name, agent, organization, expiresAt }: TokenEnd): TokenEndMail {
  const whose = agent === null ? 'your own' : `of your agent ${agent}`;
  const next =
    agent === null
      ? 'What calls with it is refused from then on. An operator of the installation makes you another one; one that you make yourself ends with the one that you make it with, so make it with one that ends later.'
      : 'What calls with it is refused from then on. Make another one in time, with a token of your own that ends later:\n\n  muster tokens create';
  return {
    to,
    subject: `The token "${name}" for ${organization} ends on ${readable(expiresAt)}`,
    text: `The token "${name}", ${whose}, for ${organization} on Muster ends on ${readable(expiresAt)}.\n\n${next}\n`,
  };
}
