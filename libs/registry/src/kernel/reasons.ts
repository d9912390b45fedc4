/**
 * The catalogue of errors by code. It has each `details.reason`, its meaning, the remedy, and whether the
 * same call can succeed later unchanged. Error constructors, documentation, tools and the command line use
 * it.
 */
import { type ErrorCode } from './errors.ts';
import { conflict, type ReasonText, unprocessable } from './rule-reasons.ts';

const catalogue = {
  bad_request: {
    invalid_params: {
      meaning: 'A parameter, header or field does not fit the contract; details.issues says which.',
      remedy: 'Correct what details.issues names, and call again.',
    },
    invalid_json: {
      meaning: 'The body is no JSON object in UTF-8, or nests or holds too much.',
      remedy: 'Send the parameters as one JSON object in UTF-8.',
    },
    malformed_request: {
      meaning: 'The request breaks the rules of HTTP, or ended early.',
      remedy: 'Send a whole and well-formed request.',
    },
    headers_too_large: { meaning: 'The headers are too large.', remedy: 'Send fewer or shorter headers.' },
    request_too_slow: {
      meaning: 'The request did not come in time.',
      remedy: 'Send it again, over a better line.',
      retryable: true,
    },
    body_too_slow: {
      meaning: 'The body did not come in time.',
      remedy: 'Send it again, over a better line.',
      retryable: true,
    },
    repeated_authorization: {
      meaning: 'There is more than one Authorization header.',
      remedy: 'Send one Authorization header.',
    },
    two_credentials: {
      meaning: 'There is a session cookie and an Authorization header, and only one of them can count.',
      remedy: 'Send one of them.',
    },
    invalid_license_key: {
      meaning: 'This is no license key.',
      remedy: 'Compare it with the key that was sold; details.position says where it looks wrong.',
    },
  },
  unauthorized: {
    unauthorized: {
      meaning: 'The bearer token, or the session, is missing, unknown, revoked or expired.',
      remedy: 'Call with a token that is good, or sign in; members make tokens of their own.',
    },
    delivery_signature: {
      meaning: 'The delivery is not signed with the secret of this connection.',
      remedy:
        'Enter the secret of the connection at the webhook; forges.update with rotateSecret makes another.',
    },
    other_resource: {
      meaning: 'The token was granted for /api/mcp alone, and this call did not come through it.',
      remedy: 'Call the tools of /api/mcp, or ask for a token of the resource /api, or use an API token.',
    },
  },
  forbidden: {
    scope: {
      meaning: 'The scope of the token is too small for it.',
      remedy: 'Call with a token of the scope that details.needed says.',
    },
    role: {
      meaning: 'Your role does not allow it.',
      remedy: 'Ask a member with the role that details.needed says to do it, or to give it to you.',
    },
    agents_may_not: {
      meaning: "It is the member's own to do or to read, and the token is an agent's.",
      remedy: "Call with the member's own token, or let the member do it.",
    },
    bound_token: {
      meaning: 'The token is bound to projects, and this reaches beyond them.',
      remedy: 'Stay in the projects of the token, or call with a token that is bound to none.',
    },
    not_the_author: {
      meaning: 'Another member or agent wrote it.',
      remedy: 'Leave it to its author, or ask a lead of the project.',
    },
    not_publisher: {
      meaning: 'Another member published it.',
      remedy: 'Leave it to its publisher or an admin, or publish under another name.',
    },
    not_the_holder: {
      meaning: 'Another member or agent holds it.',
      remedy: 'Leave it to its holder, or ask a lead of the project.',
    },
    verdict_of_another: {
      meaning: "Only a lead of the project may take another's verdict away.",
      remedy: 'Ask the reviewer, or a lead of the project.',
    },
    not_a_reviewer: {
      meaning: 'Only a reviewer of the story may give a verdict on it.',
      remedy: 'Become a reviewer first: reviewers.add.',
    },
    take_over: {
      meaning: 'Only a lead of the project may take it over.',
      remedy: 'Take other work, or ask the holder or a lead of the project.',
    },
    not_own_run: {
      meaning: 'The run belongs to the member and agent that began it.',
      remedy: 'Report it as a run of your own, under another runId.',
    },
    not_own_agent: {
      meaning: 'The agent is not yours.',
      remedy: 'Name an agent of yours, or none.',
    },
    declined: {
      meaning: 'A person was asked to confirm it, and did not.',
      remedy: 'Leave it as it is, and ask them what they want instead.',
    },
    narrowed: {
      meaning: 'The connection was narrowed to less than this.',
      remedy: 'The message says what this connection was narrowed to; call within that.',
    },
    foreign_host: {
      meaning: 'This server answers under the names of its own machine alone.',
      remedy: 'Call it as localhost.',
    },
    foreign_origin: {
      meaning: 'Pages of this origin may not call; ALLOWED_ORIGINS names those that may.',
      remedy: 'Have the operator add the origin to ALLOWED_ORIGINS.',
    },
    other_origin: {
      meaning: 'A session counts only for requests that a page of the same origin sends.',
      remedy:
        'Send it from a page of this origin, as browsers do: with Sec-Fetch-Site: same-origin and its Origin. Programs use a token.',
    },
    proof_needed: {
      meaning: 'The session has not proven lately whose it is, and this is dangerous in the wrong hands.',
      remedy: 'Sign in again, at details.at; it counts for details.minutes minutes. A token needs no proof.',
    },
    required_proof: {
      meaning:
        'The organization asks its people to sign in by its identity provider, or with a passkey, and this session did not.',
      remedy: 'Sign in at details.at. A token needs no proof.',
    },
    not_operator: {
      meaning: 'This login of the database may not act as its operator.',
      remedy: 'Give the URL of a login that may: DATABASE_URL.',
    },
    license_revoked: { meaning: 'This license was revoked.', remedy: 'Ask the seller.' },
    license_suspended: { meaning: 'This license is suspended.', remedy: 'Ask the seller.' },
    license_expired: { meaning: 'This license has expired.', remedy: 'Renew it with the seller.' },
    trial_ended: {
      meaning: 'The trial on this machine has ended.',
      remedy: 'Enter a license key; the seller has them.',
    },
    trial_converted: {
      meaning: 'A key was activated on this machine, so its trial is over.',
      remedy: 'Enter the key of that license.',
    },
    transfers_exhausted: {
      meaning: 'This license was moved as often as its plan allows; ask the seller.',
      remedy: 'Ask the seller for another move.',
    },
  },
  not_found: {
    not_found: {
      meaning: 'No such record, or none that you may see.',
      remedy:
        'Check the id or key, of details.path where it is there, with a list; it shows all that you may see.',
    },
    no_such_path: {
      meaning: 'Nothing answers at this path.',
      remedy: 'Check the path and the method; details.didYouMean names those that are near.',
    },
    no_trials: {
      meaning: 'This product cannot be tried without a key.',
      remedy: 'Enter a license key; the seller has them.',
    },
    unknown_license_key: {
      meaning: 'No license has this key.',
      remedy: 'Compare it with the key that was sold, or ask the seller.',
    },
  },
  unknown_operation: {
    unknown_operation: {
      meaning: 'There is no such operation.',
      remedy: 'Check the name; details.didYouMean names those that are near.',
    },
  },
  method_not_allowed: {
    method_not_allowed: {
      meaning: 'This path takes POST alone.',
      remedy: 'Send the same call as a POST, with its parameters as JSON in the body.',
    },
  },
  conflict,
  payload_too_large: {
    body_too_large: {
      meaning: 'The body is larger than this operation takes.',
      remedy: 'Send less at once.',
    },
    too_many_values: {
      meaning: 'The body has more values than this operation takes.',
      remedy: 'Send less at once.',
    },
  },
  unsupported_media_type: {
    content_type: {
      meaning: 'The body is not application/json in UTF-8, or it is compressed.',
      remedy: 'Send it with Content-Type: application/json and without Content-Encoding.',
      also: 'bad_request',
    },
  },
  unprocessable,
  rate_limited: {
    token_limit: {
      meaning: 'Too many calls with this token.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    organization_limit: {
      meaning: 'Too many calls of your organization.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    renewal_limit: {
      meaning: 'Too many renewals with this token.',
      remedy: 'Renew less often; a third of the lease is soon enough.',
      retryable: true,
    },
    unknown_tokens: {
      meaning: 'Too many unknown tokens from your address.',
      remedy: 'Wait as long as Retry-After says, and call with a token that is good.',
      retryable: true,
    },
    delivery_limit: {
      meaning: 'Too many deliveries of this connection, or too many from your address that were refused.',
      remedy: 'Wait as long as Retry-After says, and deliver again.',
      retryable: true,
    },
    too_many_bodies: {
      meaning: 'Too many bodies of yours are on their way at once.',
      remedy: 'Let what is on its way be answered first, then send the same again.',
      retryable: true,
    },
    too_many_waiting: {
      meaning: 'Too many calls wait for events at once.',
      remedy: 'Leave waitSeconds out, or let a call that waits end first.',
      retryable: true,
      also: 'unavailable',
    },
    too_many_forwarded: {
      meaning: 'Too many calls go through MCP at once.',
      remedy: 'Let what is on its way be answered first, then send the same again.',
      retryable: true,
      also: 'unavailable',
    },
    too_many_attempts: {
      meaning: 'Too many attempts; try again later.',
      remedy: 'Wait as long as Retry-After says, and check the key meanwhile.',
      retryable: true,
    },
  },
  internal: {
    internal: {
      meaning: 'Something went wrong on our side.',
      remedy:
        'Send it once more, a write with the same Idempotency-Key; where that does not help, report the requestId.',
    },
  },
  unavailable: {
    busy: {
      meaning: 'The database is busy; try again.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    database: {
      meaning: 'The database is away; try again.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    overload: {
      meaning: 'Too much is asked for at once; try again.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    not_migrated: {
      meaning: 'The database has no tables yet; migrate it first.',
      remedy: 'Migrate the database first.',
      retryable: true,
    },
    outcome_unknown: {
      meaning: 'The connection was lost while committing; repeat with the same Idempotency-Key.',
      remedy: 'Send the same again with the same Idempotency-Key; it happens once.',
      retryable: true,
    },
    api_away: {
      meaning: 'The API did not answer; try again.',
      remedy: 'Call again with the same arguments; nothing is done twice.',
      retryable: true,
    },
    console_away: {
      meaning: 'The service with the pages of the console did not answer; try again.',
      remedy: 'Wait as long as Retry-After says, then load the page again.',
      retryable: true,
    },
    gateway_away: {
      meaning: 'The MCP gateway did not answer; try again.',
      remedy: 'Wait as long as Retry-After says, then send the same again.',
      retryable: true,
    },
    sign_in_away: {
      meaning: 'Signing in is not possible now; try again.',
      remedy: 'Wait as long as Retry-After says, then try again.',
      retryable: true,
    },
    caller_left: {
      meaning: 'The caller left.',
      remedy: 'Call again, and wait for the answer.',
      retryable: true,
    },
  },
} as const satisfies Record<ErrorCode, Record<string, ReasonText>>;
type Catalogue = typeof catalogue;

/** The reasons that an error of this code may have. */
export type ReasonOf<Code extends ErrorCode> = {
  [Home in ErrorCode]: {
    [Name in keyof Catalogue[Home] & string]: Home extends Code
      ? Name
      : Catalogue[Home][Name] extends { readonly also: Code }
        ? Name
        : never;
  }[keyof Catalogue[Home] & string];
}[ErrorCode];
export type ErrorReason = ReasonOf<ErrorCode>;
/**
 * The refusals that operations declare: the call is valid, but the state of the data or a rule forbids it.
 */
export type RuleReason = ReasonOf<'conflict' | 'unprocessable'>;

export interface ReasonDescription {
  readonly code: ErrorCode;
  readonly meaning: string;
  readonly remedy: string;
  /** True if the same call can succeed later unchanged. */
  readonly retryable: boolean;
}

/** The catalogue entry of each reason. */
export const reasons = Object.fromEntries(
  Object.entries(catalogue).flatMap(([code, rows]) =>
    Object.entries<ReasonText>(rows).map(([reason, { meaning, remedy, retryable = false }]) => [
      reason,
      { code, meaning, remedy, retryable },
    ]),
  ),
) as Readonly<Record<ErrorReason, ReasonDescription>>;

export const isReason = (name: unknown): name is ErrorReason =>
  typeof name === 'string' && Object.hasOwn(reasons, name);

/** Returns the reasons of this code, in the order of the catalogue. */
export const reasonsOf = (code: ErrorCode): readonly ErrorReason[] =>
  (Object.keys(reasons) as ErrorReason[]).filter(
    (reason) => Object.hasOwn(catalogue[code], reason) || alsoOf(reason) === code,
  );

const alsoOf = (reason: ErrorReason): ErrorCode | undefined => {
  const rows: Readonly<Record<string, ReasonText>> = catalogue[reasons[reason].code];
  return rows[reason]?.also;
};

/** Returns the remedy for an error, whose reason may come from a newer server. */
export const remedyFor = (code: ErrorCode, reason: unknown): string => {
  const known = isReason(reason) ? reason : reasonsOf(code)[0];
  return known === undefined ? '' : reasons[known].remedy;
};
