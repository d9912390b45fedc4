/** The error object of every answer, and its codes. The reasons are defined in reasons.ts. */
import { z } from 'zod';
import { LeftOut } from './short-lists.ts';

/** The HTTP status of each error code, and the situation in which it is used. */
export const errorCodes = {
  bad_request: { status: 400, meaning: 'The request or its parameters do not fit the contract' },
  unauthorized: { status: 401, meaning: 'The token is missing, malformed, unknown, revoked or expired' },
  forbidden: {
    status: 403,
    meaning: 'You may see the thing but not do this, or the token scope is too small',
  },
  not_found: { status: 404, meaning: 'No such record, or none that you may see; no such path' },
  unknown_operation: { status: 404, meaning: 'No operation has this name' },
  method_not_allowed: { status: 405, meaning: 'The path takes another method; see Allow' },
  conflict: { status: 409, meaning: 'Another caller was faster, or holds it' },
  payload_too_large: { status: 413, meaning: 'The body is too large' },
  unsupported_media_type: { status: 415, meaning: 'The body is not application/json in UTF-8' },
  unprocessable: { status: 422, meaning: 'The state or a rule does not allow it' },
  rate_limited: { status: 429, meaning: 'Too many calls; see Retry-After' },
  internal: { status: 500, meaning: 'A fault of ours; the message says nothing of the inside' },
  unavailable: { status: 503, meaning: 'Away or overloaded; see Retry-After' },
} as const;

export type ErrorCode = keyof typeof errorCodes;
type Status<Code extends ErrorCode> = (typeof errorCodes)[Code]['status'];

/** The HTTP status of each error code. */
export const errorStatus = Object.fromEntries(
  Object.entries(errorCodes).map(([code, { status }]) => [code, status]),
) as { readonly [Code in ErrorCode]: Status<Code> };

/** One invalid field: `path`, such as `stories[2].title`, and the requirement that it violates. */
export const Issue = z.object({ path: z.string(), message: z.string() });
export type Issue = z.infer<typeof Issue>;

/** Formats the path of a field: `['stories', 2, 'title']` → `stories[2].title`. */
export const issuePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

/** The maximum number of reported issues. Later issues usually repeat the first ones. */
export const mostIssues = 20;

export const issueAt = (path: readonly PropertyKey[], message: string): Issue => ({
  path: issuePath(path).slice(0, 200),
  message,
});

const RoleOrScope = z.union([z.string(), z.array(z.string())]).optional();

/** The error object, which is the same on every surface. */
export const ErrorBody = z
  .object({
    code: z.enum(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    status: z.int(),
    requestId: z.string(),
    details: z
      .looseObject({
        reason: z.string().optional().describe('The exact case; act on this, not on the message'),
        issues: z.array(Issue).optional().describe('The fields that do not fit'),
        needed: RoleOrScope.describe('The role, scope or grounds that it needs, where yours is too small'),
        held: RoleOrScope.describe('The role or scopes that you have instead'),
        leftOut: LeftOut.optional(),
        retryable: z.boolean().optional().describe('Whether the same call can succeed later unchanged'),
        retryAt: z
          .string()
          .optional()
          .describe('From when on the same call can succeed, where that is known'),
      })
      .optional(),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;
