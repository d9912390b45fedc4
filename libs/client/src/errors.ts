/** What a call can end in besides its result. */
import { type ErrorBody, type ErrorCode, type Reason } from '@muster/registry';

/** The API's error object as an exception. Act on `code` and `reason`, not on the message. */
export class MusterError extends Error {
  readonly body: ErrorBody;
  /** For how long the server asked to be left alone. */
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

/** 400: the parameters do not fit; `body.details.issues` says which. */
export class BadRequestError extends MusterError {}
/** 401: no token, or one that is unknown, revoked or expired. */
export class UnauthorizedError extends MusterError {}
/** 403: you may see it, but not do this. */
export class ForbiddenError extends MusterError {}
/** 404: there is none, or none that you may see. */
export class NotFoundError extends MusterError {}
/** 409: something changed, or another caller holds it; the reason says what. */
export class ConflictError extends MusterError {}
/** 422: a rule is against it; the reason says which. */
export class UnprocessableError extends MusterError {}
/** 429: too many calls; wait for `retryAfterSeconds`. */
export class RateLimitedError extends MusterError {}
/** 503: the server cannot answer now. */
export class UnavailableError extends MusterError {}

/** No answer of the API came: the connection failed, or something on the way answered in its place. */
export class NoAnswer extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'NoAnswer';
  }
}

const classes: Readonly<Record<ErrorCode, typeof MusterError>> = {
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

/** The error object as the exception of its code. */
export const errorOf = (body: ErrorBody, retryAfterSeconds?: number): MusterError =>
  new classes[body.code](body, retryAfterSeconds);

/** What was answered, if it is the API's error object and not what something on the way has to say. */
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
    Object.hasOwn(classes, code) &&
    typeof message === 'string' &&
    typeof status === 'number' &&
    typeof requestId === 'string' &&
    typeof details === 'object' &&
    details !== null;
  return isOne ? (answer as ErrorBody) : undefined;
}

/** Whether a call was refused for this reason, as in `isRefusal(error, 'lease_held')`. */
export const isRefusal = (error: unknown, reason: Reason): error is MusterError =>
  error instanceof MusterError && error.reason === reason;
