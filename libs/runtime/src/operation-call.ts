import { type AuthenticatedToken } from './tokens.ts';

/** A call as its transport received it. */
export interface OperationCall {
  readonly token: AuthenticatedToken;
  readonly params: unknown;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /**
   * The `Muster-Position` that the caller received with an earlier response. A standby may answer a read once
   * it has replayed up to this position. Without a position, the primary answers.
   */
  readonly walPosition?: string | null;
  /** True if the call must be answered even if it has found nothing to answer with. */
  readonly isLastAttempt?: boolean;
}
