/** The exceptions that a call of the client can throw. */
import { type ErrorBody, type ErrorCode, type ErrorReason } from '@muster/contract';

/** The API's error object as an exception. Act on `code` and `reason`, not on the message. */
export class MusterError extends Error {
  readonly body: ErrorBody;
  /** The number of seconds that the server asked the client to wait before the next call. */
  readonly retryAfterSeconds: number | undefined;

  constructor(body: ErrorBody, retryAfterSeconds?: number) {
    super(`${body.code}: ${body.message}`);
    this.name = new.target.name;
    this.body = body;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return this.body.status;
  }

  get code(): ErrorCode {
    return this.body.code;
  }

  get reason(): string | undefined {
    return this.body.details?.reason;
  }
}

/** 400: the parameters are invalid. `body.details.issues` lists the problems. */
export class BadRequestError extends MusterError {}
/** 401: the token is missing, unknown, revoked or expired. */
export class UnauthorizedError extends MusterError {}
/** 403: the caller may see the record, but must not do this. */
export class ForbiddenError extends MusterError {}
/** 404: the record does not exist, or the caller must not see it. */
export class NotFoundError extends MusterError {}
/** 409: the state has changed, or another caller holds the record. The reason says which. */
export class ConflictError extends MusterError {}
/** 422: a rule forbids the call. The reason names the rule. */
export class UnprocessableError extends MusterError {}
/** 429: the caller made too many calls. Wait for `retryAfterSeconds`. */
export class RateLimitedError extends MusterError {}
/** 503: the server cannot answer now. */
export class UnavailableError extends MusterError {}

/**
 * A call without an answer of the API: the connection failed, or an intermediary such as a proxy answered
 * instead.
 */
export class NoAnswer extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'NoAnswer';
  }
}

const errorClasses: Readonly<Record<ErrorCode, typeof MusterError>> = {
  bad_request: BadRequestError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  unknown_operation: NotFoundError,
  method_not_allowed: MusterError,
  conflict: ConflictError,
  payload_too_large: MusterError,
  unsupported_media_type: MusterError,
  unprocessable: UnprocessableError,
  rate_limited: RateLimitedError,
  internal: MusterError,
  unavailable: UnavailableError,
};

/** Converts the error object to the exception of its code. */
export const errorOf = (body: ErrorBody, retryAfterSeconds?: number): MusterError =>
  new errorClasses[body.code](body, retryAfterSeconds);

/**
 * Returns the body if it is the API's error object, and undefined for answers of an intermediary such as a
 * proxy.
 */
export function errorBodyIn(answer: unknown): ErrorBody | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const {
    code,
    message,
    status,
    requestId,
    details = {},
  } = answer as { readonly [Key in keyof ErrorBody]?: unknown };
  const isOne =
    typeof code === 'string' &&
    Object.hasOwn(errorClasses, code) &&
    typeof message === 'string' &&
    typeof status === 'number' &&
    typeof requestId === 'string' &&
    typeof details === 'object' &&
    details !== null;
  return isOne ? (answer as ErrorBody) : undefined;
}

/** Returns true if the error is a refusal of a call for this reason, as in `isRefusal(error, 'lease_held')`. */
export const isRefusal = (error: unknown, reason: ErrorReason): error is MusterError =>
  error instanceof MusterError && error.reason === reason;
