/** The contract's error object as an exception, for everything that answers calls. */
import { type ErrorBody, type ErrorCode, errorStatus, type Issue, type Reason, reasons } from './errors.ts';

type Details = Record<string, unknown> & { reason?: string; issues?: Issue[]; retryable?: boolean };

/** An expected answer other than success: a refusal, or a service that is away. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Details | undefined;
  /** Seconds after which to try again. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details?: Details, retryAfter?: number) {
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
      ...(this.details && { details: this.details }),
    };
  }
}

/** A refusal by its reason; code, message and retryability come from the contract. */
export const refusal = (reason: Reason, details: Record<string, unknown> = {}): ApiError => {
  const { code, meaning, retryable } = reasons[reason];
  return new ApiError(code, meaning, { reason, retryable, ...details }, retryable ? 1 : undefined);
};

export const notFound = (): ApiError =>
  new ApiError('not_found', 'No such record, or none that you may see.');

export const forbidden = (reason: string, message: string): ApiError =>
  new ApiError('forbidden', message, { reason, retryable: false });

export const badRequest = (message: string, issues: Issue[]): ApiError =>
  new ApiError('bad_request', message, { reason: 'invalid_params', issues, retryable: false });

export const unauthorized = (): ApiError =>
  new ApiError('unauthorized', 'The bearer token is missing, unknown, revoked or expired.');

/** The service cannot answer now; the caller may try again after a second. */
export const unavailable = (reason: string, message: string): ApiError =>
  new ApiError('unavailable', message, { reason, retryable: true }, 1);
