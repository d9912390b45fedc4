/** The contract's error object as an exception, for everything that answers calls. */
import { type OrgRole, type ProjectRole } from './access.ts';
import { type ErrorBody, type ErrorCode, errorStatus, type Issue } from './errors.ts';
import { type Reason, type ReasonOf, reasons } from './reasons.ts';
import { withShortLists } from './short-lists.ts';

type Facts = Record<string, unknown>;
type Details = Facts & { reason: Reason; issues?: Issue[]; retryable?: boolean };

/** An expected answer other than success: a refusal, or a service that is away. Made by the functions below alone. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Details;
  /** Seconds after which to try again. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details: Details, retryAfter?: number) {
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
      details: withShortLists(this.details),
    };
  }
}

/** An answer of another service, told on as it is: it may have reasons that this one does not know yet. */
export const relayed = ({ code, message, details }: ErrorBody, retryAfter?: number): ApiError =>
  new ApiError(code, message, { ...details } as Details, retryAfter);

interface Case {
  /** What is to be said of this case, rather than the meaning that the catalogue has. */
  readonly message?: string | undefined;
  readonly details?: Facts;
  readonly retryAfter?: number;
}

/** An error of this code; what is not said of the case comes from the catalogue. */
const because = <Code extends ErrorCode>(
  code: Code,
  reason: ReasonOf<Code>,
  { message, details, retryAfter }: Case = {},
): ApiError => {
  const { meaning, retryable } = reasons[reason];
  return new ApiError(code, message ?? meaning, { reason, retryable, ...details }, retryAfter);
};

const soon = 1;

/**
 * A refusal by its reason; code, message and retryability come from the catalogue. One that holds until a time that it names
 * is retryable, whatever its reason.
 */
export const refusal = (reason: ReasonOf<'conflict' | 'unprocessable'>, details: Facts = {}): ApiError => {
  const { code, retryable } = reasons[reason];
  return because(code, reason, {
    details: { ...(details['retryAt'] !== undefined && { retryable: true }), ...details },
    ...(retryable && { retryAfter: soon }),
  });
};

export const notFound = (message?: string, details: Facts = {}): ApiError =>
  because('not_found', 'not_found', { message, details });

/** The same with the parameter that names nothing, for calls that name several records: `epicId`, `blockedBy.1`. */
export const nothingAt = (path: string): ApiError => notFound(undefined, { path });

/** What is asked for; where it is not found, that is said of this parameter. */
export async function named<Found>(path: string, asked: Promise<Found>): Promise<Found> {
  try {
    return await asked;
  } catch (failure) {
    const isOurs = failure instanceof ApiError && failure.code === 'not_found';
    throw isOurs && failure.details['path'] === undefined ? nothingAt(path) : failure;
  }
}

export const unauthorized = (reason: ReasonOf<'unauthorized'> = 'unauthorized'): ApiError =>
  because('unauthorized', reason);

/** A fault of ours, which tells nothing of the inside. */
export const internal = (): ApiError => because('internal', 'internal');

/** The parameters do not fit: which, and what is wanted. */
export const badRequest = (message: string, issues?: Issue[]): ApiError =>
  because('bad_request', 'invalid_params', { message, ...(issues && { details: { issues } }) });

/** The request does not fit, before anything looks at its parameters. */
export const malformed = (
  reason: Exclude<ReasonOf<'bad_request'>, 'invalid_params'>,
  message?: string,
  details: Facts = {},
): ApiError => because('bad_request', reason, { message, details });

export const tooLarge = (
  reason: ReasonOf<'payload_too_large'>,
  message?: string,
  details: Facts = {},
): ApiError => because('payload_too_large', reason, { message, details });

/** The path exists, and answers POST alone. */
export const methodNotAllowed = (): ApiError => because('method_not_allowed', 'method_not_allowed');

export const unsupportedMediaType = (message?: string): ApiError =>
  because('unsupported_media_type', 'content_type', { message });

/** Of a path or a license; a record that is not there is `notFound`. */
export const missing = (
  reason: Exclude<ReasonOf<'not_found'>, 'not_found'>,
  message?: string,
  details: Facts = {},
): ApiError => because('not_found', reason, { message, details });

export const unknownOperation = (didYouMean: readonly string[]): ApiError =>
  because('unknown_operation', 'unknown_operation', { details: { didYouMean } });

/** By something else than a role or a scope. */
export const forbidden = (
  reason: Exclude<ReasonOf<'forbidden'>, 'role' | 'scope'>,
  message?: string,
  details: Facts = {},
): ApiError => because('forbidden', reason, { message, details });

/** What is needed, in words or as grounds, and what the caller has instead. */
interface TooLittle<Needed, Held> {
  readonly needed: Needed;
  readonly held: Held;
}

/** The caller's role is too low. */
export const roleTooLow = (
  { needed, held }: TooLittle<OrgRole | ProjectRole | readonly string[], OrgRole | ProjectRole>,
  message?: string,
): ApiError => because('forbidden', 'role', { message, details: { needed, held } });

/** The token's scope is too small, whatever the role of its member. */
export const scopeTooSmall = (
  { needed, held }: TooLittle<string, readonly string[]>,
  message = `The token's scope is too small; this needs ${needed}.`,
): ApiError => because('forbidden', 'scope', { message, details: { needed, held: [...held] } });

/** Too many calls; the same may be sent again after so many seconds. */
export const tooMany = (reason: ReasonOf<'rate_limited'>, seconds: number, message?: string): ApiError =>
  because('rate_limited', reason, {
    message,
    details: { retryAfterSeconds: seconds },
    retryAfter: seconds,
  });

/** The service cannot answer now; the caller may try again after a second. */
export const unavailable = (reason: ReasonOf<'unavailable'>, message?: string): ApiError =>
  because('unavailable', reason, { message, retryAfter: soon });
