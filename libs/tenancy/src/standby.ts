/**
 * Serves reads from a standby of the same database. While the standby computes the answer, the primary is
 * asked whether the caller's rights still hold and which position the organization has reached. A revocation
 * therefore holds from the next statement on, and writes made before the call are visible. If anything
 * prevents this, the primary answers.
 */
import {
  bindStatement,
  BurstError,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  inTransactionSpan,
  type Pool,
  sendRead,
  sql,
} from '@muster/driver';
import { type AccessCheck, type AccessCheckInput, type AccessGrant } from './access-check.ts';
import { runAndCommit, DatabaseSession } from './organization.ts';
import { TokenRightsCache } from './remembered-rights.ts';

/**
 * The outcome of a read. `standby` means that the standby answered; in all other cases the primary did.
 * `unasked`: the caller did not ask for the standby. `behind`: the standby lagged. `rights`: the rights were
 * not cached or have changed. `away`: the standby was unavailable. `refused`: the standby refused the read,
 * which only the primary may decide.
 */
export const readOutcomes = ['standby', 'unasked', 'behind', 'rights', 'away', 'refused'] as const;
export type ReadOutcome = (typeof readOutcomes)[number];

export interface StandbyOptions {
  readonly url: string;
  /** The maximum number of connections to the standby. */
  readonly max: number;
  /** The time limit for the standby's answer, in milliseconds. After it the primary answers. */
  readonly queryTimeoutMillis: number;
  readonly primary: Pool;
  readonly onIdleError: (error: Error) => void;
  /** Receives the outcome of each read that the standby might have answered. */
  readonly onRead: (outcome: ReadOutcome) => void;
}

/** The answer of the standby and its position in the write-ahead log, such as `0/16B3748`. */
export interface StandbyAnswer<Result> {
  readonly result: Result;
  readonly position: string;
}

export interface Standby {
  /**
   * Runs the work of a read on the standby if it has reached `position`; null requests the primary. Returns
   * undefined if the primary must run the work, for any reason. Discard everything that the work did and
   * threw in that case.
   */
  read<Result>(
    visit: Omit<AccessCheckInput, 'effect' | 'claim'>,
    position: string | null,
    work: (session: DatabaseSession) => Promise<Result>,
  ): Promise<StandbyAnswer<Result> | undefined>;
  close(): Promise<void>;
}

/** The delay before the standby is used again after it was unavailable, in milliseconds. */
const standbyRetryDelayMillis = 2_000;

interface StandbyRow {
  readonly at: string;
  readonly target_id: string | null;
  readonly project_id: string | null;
  readonly moves: number;
  readonly stands_at: string;
}

export function createStandby(options: StandbyOptions): Standby {
  const { url, max, queryTimeoutMillis: answerWithinMillis, primary, onIdleError, onRead } = options;
  const pool = createPool({
    ...{ url, max, role: 'muster_app', name: 'coordination-api standby', onIdleError },
    ...{ connectTimeoutMillis: answerWithinMillis, queryTimeoutMillis: answerWithinMillis },
  });
  const primaryMoves = createChangeCountReader(primary);
  let restsUntil = 0;

  const attempt: Standby['read'] = async (visit, position, work) => {
    if (position === null) throw new StandbyDeclined('unasked');
    if (performance.now() < restsUntil) throw new StandbyDeclined('away');
    const { cachedRights, orgId, requiredOrgRank, target } = visit;
    const { sentRights: told, storeRights: learn } = (cachedRights ?? new TokenRightsCache(null)).recall(
      requiredOrgRank,
      target,
    );
    const [, , epoch, expiresAt, projects] = told;
    if (epoch === null) throw new StandbyDeclined('rights');
    const stood = { position: '', moves: -1 };
    const { kind, ref } = target ?? { kind: null, ref: null };
    const accessCheck: AccessCheck<AccessGrant> = {
      ...{ effect: 'read', orgId, claim: null, onWalPosition: undefined },
      checkQuery: sql<StandbyRow>`select * from app.enter_standby(
        ${position}::pg_lsn, ${orgId}, ${epoch}, ${kind}, ${ref}, ${projects})`,
      toGrant: (row) => {
        const { at, target_id, project_id, moves, stands_at } = row as StandbyRow;
        // A read that sends several pipelines runs the check with each of them. The position that the check of
        // the first pipeline returned counts for the whole read.
        if (stood.moves === -1) [stood.position, stood.moves] = [stands_at, moves];
        const orgRole = learn({
          org_role: null,
          epoch: null,
          expires_at: null,
          project_id,
          project_rank: null,
        });
        return { at, orgRole, targetId: target_id, projectId: project_id };
      },
      orgIdOf: () => null,
    };
    const session = new DatabaseSession((statements) => sendRead(pool, statements), accessCheck);
    const primaryMoveCount = primaryMoves(orgId, epoch, expiresAt);
    const [moves, result] = await Promise.all([
      primaryMoveCount,
      inTransactionSpan(() => runAndCommit(session, () => work(session))),
    ]);
    if (moves === null) throw new StandbyDeclined('rights');
    if (stood.moves < moves) throw new StandbyDeclined('behind');
    return { result, position: stood.position };
  };

  return {
    read: async (...asked) => {
      try {
        const answer = await attempt(...asked);
        onRead('standby');
        return answer;
      } catch (error) {
        const outcome = readOutcomeOf(error);
        if (isConnectionLost(error)) restsUntil = performance.now() + standbyRetryDelayMillis;
        onRead(outcome);
        return undefined;
      }
    },
    close: () => pool.end(),
  };
}

/** Signals that the primary must answer, with the reason. */
class StandbyDeclined extends Error {
  readonly outcome: ReadOutcome;

  constructor(outcome: ReadOutcome) {
    super(`the primary answers: ${outcome}`);
    this.name = 'Declined';
    this.outcome = outcome;
  }
}

const isConnectionLost = (error: unknown): boolean =>
  error instanceof DatabaseAway || (error instanceof BurstError && error.sqlState === undefined);

function readOutcomeOf(error: unknown): ReadOutcome {
  if (error instanceof StandbyDeclined) return error.outcome;
  if (isConnectionLost(error) || error instanceof DatabaseBusy) return 'away';
  const sqlState = error instanceof BurstError ? error.sqlState : undefined;
  if (sqlState === 'MU425') return 'behind';
  return sqlState === 'MU428' ? 'rights' : 'refused';
}

interface PositionRequest {
  readonly orgId: string;
  readonly epoch: string;
  readonly expiresAt: string | null;
  readonly resolve: (moves: number | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that asks the primary how many activity and audit entries an organization has written. The
 * answer is null if the organization's rights epoch has changed or the token has expired. All requests of one
 * event loop turn share one statement.
 */
function createChangeCountReader(primary: Pool) {
  let waiting: PositionRequest[] = [];
  const send = async (): Promise<void> => {
    const requests = waiting;
    waiting = [];
    try {
      const orgs = requests.map(({ orgId }) => orgId);
      const epochs = requests.map(({ epoch }) => epoch);
      const expiries = requests.map(({ expiresAt }) => expiresAt);
      const [answer] = await sendRead(primary, [
        bindStatement(
          sql`select nth, moves from app.moves_while_rights_hold(${orgs}, ${epochs}, ${expiries})`,
          null,
        ),
      ]);
      const moves = new Map((answer?.rows ?? []).map((row) => [row['nth'], row['moves'] as number | null]));
      for (const [index, { resolve }] of requests.entries()) resolve(moves.get(index + 1) ?? null);
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  };
  return (orgId: string, epoch: string, expiresAt: string | null): Promise<number | null> =>
    new Promise((resolve, reject) => {
      if (waiting.push({ orgId, epoch, expiresAt, resolve, reject }) === 1) setImmediate(() => void send());
    });
}
