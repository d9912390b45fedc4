/** The error object of every answer, and its codes. The reasons are defined in reasons.ts. */
import { z } from 'zod';
import { OmittedCounts } from './short-lists.ts';

/** The HTTP status of each error code, and the situation in which it is used. */
export const errorCodes = {
  bad_request: { status: 400, meaning: 'The request is malformed, or a parameter is invalid' },
  unauthorized: { status: 401, meaning: 'The token is missing, malformed, unknown, revoked or expired' },
  forbidden: {
    status: 403,
    meaning: "Your role or the token's scope does not allow this operation",
  },
  not_found: { status: 404, meaning: 'The record or path does not exist, or you cannot see it' },
  unknown_operation: { status: 404, meaning: 'No operation has this name' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method; the Allow header lists those it does',
  },
  conflict: { status: 409, meaning: 'Another caller changed the record first, or holds it' },
  payload_too_large: { status: 413, meaning: 'The request body is too large' },
  unsupported_media_type: { status: 415, meaning: 'The request body is not application/json in UTF-8' },
  unprocessable: { status: 422, meaning: 'The current state or a rule does not allow the operation' },
  rate_limited: { status: 429, meaning: 'Too many requests; Retry-After says how long to wait' },
  internal: { status: 500, meaning: 'Internal server error; the message reveals no internal details' },
  unavailable: {
    status: 503,
    meaning: 'The service is unavailable or overloaded; Retry-After says how long to wait',
  },
} as const;

export type ErrorCode = keyof typeof errorCodes;
type HttpStatusOf<Code extends ErrorCode> = (typeof errorCodes)[Code]['status'];

/** The HTTP status of each error code. */
export const errorStatus = Object.fromEntries(
  Object.entries(errorCodes).map(([code, { status }]) => [code, status]),
) as { readonly [Code in ErrorCode]: HttpStatusOf<Code> };

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
export const maxIssues = 20;

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
        reason: z
          .string()
          .optional()
          .describe('The exact case. Base decisions on this field, not on the message'),
        issues: z.array(Issue).optional().describe('The fields that are invalid, each with its problem'),
        needed: RoleOrScope.describe(
          'The required role, scope or relation to the record, if yours is not enough',
        ),
        held: RoleOrScope.describe('The role or scopes that you have'),
        leftOut: OmittedCounts.optional(),
        retryable: z
          .boolean()
          .optional()
          .describe('Whether the same call can succeed later without a change'),
        retryAt: z
          .string()
          .optional()
          .describe('The time from which the same call can succeed, if it is known'),
      })
      .optional(),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;
