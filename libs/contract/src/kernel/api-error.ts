/** The contract's error object as an exception, for all services that answer calls. */
import { type OrgRole, type ProjectRole } from './access.ts';
import { type ErrorBody, type ErrorCode, errorStatus, type Issue } from './errors.ts';
import { type ErrorReason, type ReasonOf, reasons } from './reasons.ts';
import { truncateLists } from './short-lists.ts';

type ErrorFacts = Record<string, unknown>;
type ErrorDetails = ErrorFacts & { reason: ErrorReason; issues?: Issue[]; retryable?: boolean };

/**
 * An expected answer other than success: a refusal, or an unavailable service. Create it only with the
 * functions below.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** The delay in seconds after which the caller may try again. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails, retryAfter?: number) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return errorStatus[this.code];
  }

  toBody(requestId: string): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      status: this.status,
      requestId,
      details: truncateLists(this.details),
    };
  }
}

/**
 * Passes on the error of another service unchanged. It may have reasons that this version does not know yet.
 */
export const apiErrorFromBody = ({ code, message, details }: ErrorBody, retryAfter?: number): ApiError =>
  new ApiError(code, message, { ...details } as ErrorDetails, retryAfter);

interface ErrorOverrides {
  /** The message for this case; by default the meaning in the catalogue. */
  readonly message?: string | undefined;
  readonly details?: ErrorFacts;
  readonly retryAfter?: number;
}

/** Creates an error of this code. Values that the case does not give come from the catalogue. */
const createApiError = <Code extends ErrorCode>(
  code: Code,
  reason: ReasonOf<Code>,
  { message, details, retryAfter }: ErrorOverrides = {},
): ApiError => {
  const { meaning, retryable } = reasons[reason];
  return new ApiError(code, message ?? meaning, { reason, retryable, ...details }, retryAfter);
};

const defaultRetryAfterSeconds = 1;

/**
 * Creates a refusal from its reason. Code, message and retryability come from the catalogue. A refusal that
 * ends at a stated time is retryable, whatever its reason.
 */
export const refusal = (
  reason: ReasonOf<'conflict' | 'unprocessable'>,
  details: ErrorFacts = {},
): ApiError => {
  const { code, retryable } = reasons[reason];
  return createApiError(code, reason, {
    details: { ...(details['retryAt'] !== undefined && { retryable: true }), ...details },
    ...(retryable && { retryAfter: defaultRetryAfterSeconds }),
  });
};

export const notFound = (message?: string, details: ErrorFacts = {}): ApiError =>
  createApiError('not_found', 'not_found', { message, details });

/**
 * Returns a 404 error with the parameter that names the missing record. It is for calls that name several
 * records: `epicId`, `blockedBy.1`.
 */
export const pathNotFound = (path: string): ApiError => notFound(undefined, { path });

/**
 * Awaits a lookup of the record that the parameter `path` names. If there is no such record, the error names
 * the parameter.
 */
export async function withPathOnNotFound<Found>(path: string, lookup: Promise<Found>): Promise<Found> {
  try {
    return await lookup;
  } catch (failure) {
    const isOurs = failure instanceof ApiError && failure.code === 'not_found';
    throw isOurs && failure.details['path'] === undefined ? pathNotFound(path) : failure;
  }
}

export const unauthorized = (reason: ReasonOf<'unauthorized'> = 'unauthorized'): ApiError =>
  createApiError('unauthorized', reason);

/** Creates the error for an internal fault. It contains no details of the fault. */
export const internalError = (): ApiError => createApiError('internal', 'internal');

/** Creates the error for invalid parameters. It has one issue for each invalid parameter. */
export const badRequest = (message: string, issues?: Issue[]): ApiError =>
  createApiError('bad_request', 'invalid_params', { message, ...(issues && { details: { issues } }) });

/** Creates the error for a request that is invalid before its parameters are validated. */
export const malformedRequest = (
  reason: Exclude<ReasonOf<'bad_request'>, 'invalid_params'>,
  message?: string,
  details: ErrorFacts = {},
): ApiError => createApiError('bad_request', reason, { message, details });

export const payloadTooLarge = (
  reason: ReasonOf<'payload_too_large'>,
  message?: string,
  details: ErrorFacts = {},
): ApiError => createApiError('payload_too_large', reason, { message, details });

/** Creates the error for a path that exists but accepts only POST. */
export const methodNotAllowed = (): ApiError => createApiError('method_not_allowed', 'method_not_allowed');

export const unsupportedMediaType = (message?: string): ApiError =>
  createApiError('unsupported_media_type', 'content_type', { message });

/** Creates the error for a path or license that does not exist. For a missing record use `notFound`. */
export const notFoundWithReason = (
  reason: Exclude<ReasonOf<'not_found'>, 'not_found'>,
  message?: string,
  details: ErrorFacts = {},
): ApiError => createApiError('not_found', reason, { message, details });

export const unknownOperation = (didYouMean: readonly string[]): ApiError =>
  createApiError('unknown_operation', 'unknown_operation', { details: { didYouMean } });

/** Creates the error for a call that is forbidden for another reason than a role or a scope. */
export const forbidden = (
  reason: Exclude<ReasonOf<'forbidden'>, 'role' | 'scope'>,
  message?: string,
  details: ErrorFacts = {},
): ApiError => createApiError('forbidden', reason, { message, details });

/** The role or scope that a call requires, and the role or scope that the caller has. */
interface InsufficientRight<Needed, Held> {
  readonly needed: Needed;
  readonly held: Held;
}

/** Creates the error for a caller whose role is too low. */
export const roleTooLow = (
  { needed, held }: InsufficientRight<OrgRole | ProjectRole | readonly string[], OrgRole | ProjectRole>,
  message?: string,
): ApiError => createApiError('forbidden', 'role', { message, details: { needed, held } });

/** Creates the error for a token whose scope is too small, whatever the role of its member. */
export const scopeTooSmall = (
  { needed, held }: InsufficientRight<string, readonly string[]>,
  message = `The token does not have the required scope: ${needed}.`,
): ApiError => createApiError('forbidden', 'scope', { message, details: { needed, held: [...held] } });

/** Creates the error for too many calls. The caller may send the same call again after `seconds`. */
export const tooManyRequests = (
  reason: ReasonOf<'rate_limited'>,
  retryAfterSeconds: number,
  message?: string,
): ApiError =>
  createApiError('rate_limited', reason, {
    message,
    details: { retryAfterSeconds },
    retryAfter: retryAfterSeconds,
  });

/** Creates the error for a service that cannot answer now. The caller may try again after one second. */
export const serviceUnavailable = (reason: ReasonOf<'unavailable'>, message?: string): ApiError =>
  createApiError('unavailable', reason, { message, retryAfter: defaultRetryAfterSeconds });
