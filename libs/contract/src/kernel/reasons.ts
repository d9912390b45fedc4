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
      meaning: 'A parameter, header or field is invalid; details.issues lists each problem.',
      remedy: 'Correct the fields in details.issues, and call again.',
    },
    invalid_json: {
      meaning: 'The body is not a JSON object in UTF-8, or it is nested too deeply or has too many values.',
      remedy: 'Send the parameters as one JSON object in UTF-8.',
    },
    malformed_request: {
      meaning: 'The request is not valid HTTP, or it ended early.',
      remedy: 'Send a complete, well-formed request.',
    },
    headers_too_large: {
      meaning: 'The request headers are too large.',
      remedy: 'Send fewer or shorter headers.',
    },
    request_too_slow: {
      meaning: 'The request headers did not arrive in time.',
      remedy: 'Send the request again; check the network connection if this repeats.',
      retryable: true,
    },
    body_too_slow: {
      meaning: 'The request body did not arrive in time.',
      remedy: 'Send the request again; check the network connection if this repeats.',
      retryable: true,
    },
    repeated_authorization: {
      meaning: 'The request has more than one Authorization header.',
      remedy: 'Send exactly one Authorization header.',
    },
    two_credentials: {
      meaning: 'The request has both a session cookie and an Authorization header.',
      remedy: 'Send only one of them.',
    },
    invalid_license_key: {
      meaning: 'Not a valid license key.',
      remedy:
        'Compare the license key that you entered with the one that you received; details.position is the first character that looks wrong.',
    },
  },
  unauthorized: {
    unauthorized: {
      meaning: 'The token or session is missing, unknown, revoked or expired.',
      remedy: 'Use a valid token, or sign in. Members can create tokens in their settings.',
    },
    delivery_signature: {
      meaning: 'The delivery is not signed with the webhook secret of this connection.',
      remedy:
        "Enter the connection's secret in the forge's webhook settings. To get a new secret, call forges.update with rotateSecret.",
    },
    slack_signature: {
      meaning:
        'The request is not signed with the signing secret of the Slack app, is older than five minutes, or was received before.',
      remedy:
        "Set SLACK_SIGNING_SECRET to the signing secret in the app's settings, and check the server's clock.",
    },
    file_signature: {
      meaning: 'The address of this file is invalid or has expired.',
      remedy: 'Call attachments.get for a new download address, or attachments.create for a new upload.',
    },
    other_resource: {
      meaning: 'The token is valid only for MCP calls to /api/mcp.',
      remedy: 'Call the tools of /api/mcp, request a token for the resource /api, or use an API token.',
    },
  },
  forbidden: {
    scope: {
      meaning: "The token's scope does not allow this operation.",
      remedy: 'Use a token with the scope in details.needed.',
    },
    role: {
      meaning: 'Your role does not allow this operation.',
      remedy: 'Ask a member with the role in details.needed to do it, or to give you that role.',
    },
    agents_may_not: {
      meaning: "Only the member can do this; an agent's token cannot.",
      remedy: "Use the member's own token, or ask the member to do it.",
    },
    bound_token: {
      meaning: 'The token is limited to some projects, and this call reaches beyond them.',
      remedy: "Call within the token's projects, or use a token without a project limit.",
    },
    not_the_author: {
      meaning: 'Another member or agent wrote this.',
      remedy: 'Ask its author, or a lead of the project.',
    },
    not_publisher: {
      meaning: 'Another member published this agent.',
      remedy: 'Ask its publisher or an admin, or publish under another name.',
    },
    not_the_holder: {
      meaning: 'Another member or agent holds this.',
      remedy: 'Ask its holder, or a lead of the project.',
    },
    verdict_of_another: {
      meaning: 'Only the reviewer or a lead of the project may withdraw this verdict.',
      remedy: 'Ask the reviewer, or a lead of the project.',
    },
    not_a_reviewer: {
      meaning: 'Only a reviewer of the story may give a verdict.',
      remedy: 'Add yourself as a reviewer first with reviewers.add.',
    },
    take_over: {
      meaning: 'Only a lead of the project may take this over.',
      remedy: 'Choose other work, or ask the holder or a lead of the project.',
    },
    not_own_run: {
      meaning: 'The run belongs to the member and agent that started it.',
      remedy: 'Report it as your own run, with another runId.',
    },
    not_own_agent: {
      meaning: 'The agent belongs to another member.',
      remedy: 'Name one of your own agents, or omit the agent.',
    },
    declined: {
      meaning: 'The person who was asked to confirm this declined or did not answer.',
      remedy: 'Do not repeat the call; ask the person how to proceed.',
    },
    narrowed: {
      meaning: 'This connection is restricted, and the call is outside the restriction.',
      remedy: 'Use only the listed tools and the allowed project, or connect again without the restriction.',
    },
    foreign_host: {
      meaning: 'This server accepts requests only under a local host name.',
      remedy: 'Send the request to localhost.',
    },
    foreign_origin: {
      meaning: 'The origin of this page is not in ALLOWED_ORIGINS.',
      remedy: 'Ask the operator to add the origin to ALLOWED_ORIGINS.',
    },
    other_origin: {
      meaning: 'Session cookies are accepted only on same-origin requests from a page.',
      remedy:
        'Send the request from a page of this origin, with the headers Sec-Fetch-Site: same-origin and Origin as browsers send them. Programs should use a token.',
    },
    proof_needed: {
      meaning: 'This sensitive operation needs a recent sign-in, and yours is too old.',
      remedy:
        'Sign in again at details.at; that is valid for details.minutes minutes. Tokens do not need this.',
    },
    required_proof: {
      meaning:
        'The organization requires sign-in by its identity provider or with a passkey, and this session used neither.',
      remedy: 'Sign in at details.at. Tokens do not need this.',
    },
    not_operator: {
      meaning: 'The database login in use does not have operator permissions.',
      remedy: 'Set DATABASE_URL to a login with operator permissions.',
    },
    license_revoked: { meaning: 'This license was revoked.', remedy: 'Contact the seller.' },
    license_suspended: { meaning: 'This license is suspended.', remedy: 'Contact the seller.' },
    license_expired: { meaning: 'This license has expired.', remedy: 'Renew it with the seller.' },
    trial_ended: {
      meaning: 'The trial on this machine has ended.',
      remedy: 'Enter a license key; you can buy one from the seller.',
    },
    trial_converted: {
      meaning: 'The trial ended when a license key was activated on this machine.',
      remedy: 'Enter that license key.',
    },
    transfers_exhausted: {
      meaning: 'This license has reached the number of machine changes that its plan allows.',
      remedy: 'Ask the seller for another machine change.',
    },
  },
  not_found: {
    not_found: {
      meaning: 'The record does not exist, or you cannot see it.',
      remedy:
        'Check the id or key; details.path names the parameter if it is known. List the records to see those you have access to.',
    },
    no_such_path: {
      meaning: 'No operation or page exists at this path.',
      remedy: 'Check the path and the method; details.didYouMean lists similar ones.',
    },
    no_trials: {
      meaning: 'This product has no trial.',
      remedy: 'Enter a license key; you can buy one from the seller.',
    },
    unknown_license_key: {
      meaning: 'No license has this key.',
      remedy:
        'Compare the license key that you entered with the one that you received, or contact the seller.',
    },
  },
  unknown_operation: {
    unknown_operation: {
      meaning: 'No operation has this name.',
      remedy: 'Check the name; details.didYouMean lists similar ones.',
    },
  },
  method_not_allowed: {
    method_not_allowed: {
      meaning: 'This path accepts only POST.',
      remedy: 'Send the call as a POST request, with its parameters as JSON in the body.',
    },
  },
  conflict,
  payload_too_large: {
    body_too_large: {
      meaning: 'The request body is larger than this operation allows.',
      remedy: 'Split the content over several calls, or shorten it.',
    },
    file_too_large: {
      meaning: 'The file is larger than 50 MiB.',
      remedy: 'Attach a smaller file, or compress it.',
    },
    too_many_values: {
      meaning: 'The request body has more values than this operation allows.',
      remedy: 'Split the content over several calls.',
    },
  },
  unsupported_media_type: {
    content_type: {
      meaning: 'The request body is compressed, or it is not application/json in UTF-8.',
      remedy: 'Send it with Content-Type: application/json and without Content-Encoding.',
      also: 'bad_request',
    },
  },
  unprocessable,
  rate_limited: {
    token_limit: {
      meaning: 'Too many calls with this token.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    organization_limit: {
      meaning: 'Too many calls from your organization.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    renewal_limit: {
      meaning: 'Too many lease renewals with this token.',
      remedy: "Renew less often; once per third of the lease's duration is enough.",
      retryable: true,
    },
    unknown_tokens: {
      meaning: 'Too many calls with invalid tokens from your address.',
      remedy: 'Wait for the time in Retry-After, then use a valid token.',
      retryable: true,
    },
    delivery_limit: {
      meaning: 'Too many deliveries from this connection, or too many rejected deliveries from your address.',
      remedy: 'Wait for the time in Retry-After, then send the delivery again.',
      retryable: true,
    },
    too_many_bodies: {
      meaning: 'You are sending too many request bodies at the same time.',
      remedy: 'Wait until other requests are answered, then send this one again.',
      retryable: true,
    },
    too_many_uploads: {
      meaning: 'You are uploading too many files at the same time.',
      remedy: 'Wait until another upload ends, then send this one again.',
      retryable: true,
      also: 'unavailable',
    },
    too_many_waiting: {
      meaning: 'Too many calls are waiting for events at the same time.',
      remedy: 'Omit waitSeconds, or wait until another waiting call ends.',
      retryable: true,
      also: 'unavailable',
    },
    too_many_forwarded: {
      meaning: 'Too many MCP calls are running at the same time.',
      remedy: 'Wait until other calls are answered, then send this one again.',
      retryable: true,
      also: 'unavailable',
    },
    too_many_attempts: {
      meaning: 'Too many attempts.',
      remedy: 'Check the key, and wait for the time in Retry-After before you try again.',
      retryable: true,
    },
  },
  internal: {
    internal: {
      meaning: 'Something went wrong on the server.',
      remedy:
        'Send the call once more; for a write, use the same Idempotency-Key. If it fails again, report the requestId.',
    },
  },
  unavailable: {
    busy: {
      meaning: 'The database is busy.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    database: {
      meaning: 'The database is unavailable.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    overload: {
      meaning: 'The server has too many requests in progress.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    not_migrated: {
      meaning: 'The database has no tables yet.',
      remedy: 'Run the database migrations first.',
      retryable: true,
    },
    outcome_unknown: {
      meaning: 'The database connection was lost during the commit, so the result is unknown.',
      remedy: 'Send the same call again with the same Idempotency-Key; the write happens only once.',
      retryable: true,
    },
    files_away: {
      meaning: 'The storage of files is unavailable.',
      remedy: 'Wait for the time in Retry-After, then send the same request again.',
      retryable: true,
    },
    scanner_away: {
      meaning: 'The virus scanner is unavailable, so no upload becomes visible.',
      remedy: 'Wait for the time in Retry-After, then send the same upload again.',
      retryable: true,
    },
    api_away: {
      meaning: 'The API did not answer.',
      remedy: 'Call again with the same arguments; the write happens only once.',
      retryable: true,
    },
    console_away: {
      meaning: 'The console service did not answer.',
      remedy: 'Wait for the time in Retry-After, then reload the page.',
      retryable: true,
    },
    gateway_away: {
      meaning: 'The MCP gateway did not answer.',
      remedy: 'Wait for the time in Retry-After, then send the same call again.',
      retryable: true,
    },
    sign_in_away: {
      meaning: 'Sign-in is unavailable at the moment.',
      remedy: 'Wait for the time in Retry-After, then try again.',
      retryable: true,
    },
    caller_left: {
      meaning: 'The client closed the connection before the answer.',
      remedy: 'Call again, and keep the connection open until the answer arrives.',
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
    (reason) => Object.hasOwn(catalogue[code], reason) || secondCodeOf(reason) === code,
  );

const secondCodeOf = (reason: ErrorReason): ErrorCode | undefined => {
  const rows: Readonly<Record<string, ReasonText>> = catalogue[reasons[reason].code];
  return rows[reason]?.also;
};

/** Returns the remedy for an error, whose reason may come from a newer server. */
export const remedyFor = (code: ErrorCode, reason: unknown): string => {
  const known = isReason(reason) ? reason : reasonsOf(code)[0];
  return known === undefined ? '' : reasons[known].remedy;
};
