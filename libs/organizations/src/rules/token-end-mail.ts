/** The text of the e-mail about a token that expires soon. It contains no part of the secret. */
import { formatReadableTime } from './readable.ts';

export interface TokenExpiryMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface ExpiringToken {
  readonly to: string;
  /** The name of the token. */
  readonly name: string;
  /** The agent's name; null for the member's own token. */
  readonly agent: string | null;
  readonly organization: string;
  readonly expiresAt: string;
}

export function renderTokenExpiryMail({
  to,
  name,
  agent,
  organization,
  expiresAt,
}: ExpiringToken): TokenExpiryMail {
  const whose = agent === null ? '' : ` of your agent ${agent}`;
  const next =
    agent === null
      ? 'Calls with it are then refused. Ask an operator of the installation for a new token, or create one with a token that expires later: a new token expires no later than the token that creates it.'
      : 'Calls with it are then refused. Create a new one before that, with a token of yours that expires later:\n\n  muster tokens create';
  return {
    to,
    subject: `Your token "${name}" for ${organization} expires on ${formatReadableTime(expiresAt)}`,
    text: `The token "${name}"${whose} for ${organization} on Muster expires on ${formatReadableTime(expiresAt)}.\n\n${next}\n`,
  };
}
