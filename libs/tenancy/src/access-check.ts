import { type Part } from '@muster/driver';
import { type OrgRole } from '@muster/contract';
import { type TokenRightsCache } from './remembered-rights.ts';

/** The credentials, the organization and the required role of a call, checked before its transaction runs. */
export interface AccessCheckInput {
  readonly effect: 'read' | 'write';
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
  /** The organization of the token as it was authenticated. Statements name it explicitly. */
  readonly orgId: string;
  /** The cached rights of the token, updated by the answer of the check; null forces a full check. */
  readonly cachedRights: TokenRightsCache | null;
  /** The lowest sufficient rank of the member in the organization; rank 1 is viewer. */
  readonly requiredOrgRank: number;
  /**
   * The record that the call concerns, and the lowest sufficient rank of the caller in that record's project;
   * null if the call concerns no project.
   */
  readonly target: { readonly kind: string; readonly ref: string; readonly rank: number } | null;
  /**
   * A statement that claims an idempotency key, run in the same transaction right after the authorization
   * check.
   */
  readonly claim: Part | null;
  /**
   * Receives a position in the write-ahead log. A write's position lies after its COMMIT; a read's position
   * lies before its statements.
   */
  readonly onWalPosition?: ((position: string) => void) | undefined;
}

/** The result of the authorization check. */
export interface AccessGrant {
  /** The time of the transaction, by the database's clock. */
  readonly at: string;
  readonly orgRole: OrgRole;
  /** The id of the target, even if the call named it by its key; null without a target. */
  readonly targetId: string | null;
  /** The project of the call's target; null if the call has no target or the target belongs to no project. */
  readonly projectId: string | null;
}

/** A kind of authorization check: the statement to send first, and how to read its answer. */
export interface AccessCheck<Found> {
  readonly effect: AccessCheckInput['effect'];
  /** The organization that the statements name. Null if only the answer of the authorization check reveals it. */
  readonly orgId: string | null;
  readonly checkQuery: Part;
  readonly claim: Part | null;
  readonly onWalPosition: AccessCheckInput['onWalPosition'];
  readonly toGrant: (row: unknown) => Found;
  readonly orgIdOf: (found: Found) => string | null;
}
