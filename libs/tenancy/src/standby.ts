/**
 * Reads that a standby of the same database answers. The standby is asked for the answer, and at the same time the
 * primary whether the caller's rights still hold and how far the organization has moved: so a revocation holds from the
 * next statement on, and what was written before the call came is seen. Whatever is in the way, the primary answers.
 */
import {
  bind,
  BurstError,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  inTransactionSpan,
  type Pool,
  sendRead,
  sql,
} from '@muster/driver';
import { type Entry, letIn, Session, type Visit, type WayIn } from './organization.ts';
import { RememberedRights } from './remembered-rights.ts';

/**
 * Who answered a read: the standby; or the primary, since the caller asked for no other, the standby was behind, rights were
 * not remembered or have changed, the standby was away, or it found something to refuse, which the primary decides.
 */
export const readOutcomes = ['standby', 'unasked', 'behind', 'rights', 'away', 'refused'] as const;
export type ReadOutcome = (typeof readOutcomes)[number];

export interface StandbyOptions {
  readonly url: string;
  /** Connections to it at most. */
  readonly max: number;
  /** Where it has not answered by then, the primary does. */
  readonly answerWithinMillis: number;
  readonly primary: Pool;
  readonly onIdleError: (error: Error) => void;
  /** Told of each read that it might have answered. */
  readonly onRead: (outcome: ReadOutcome) => void;
}

/** What the standby answered, and where it stood: a position in the log of writes, such as `0/16B3748`. */
export interface StandbyAnswer<Result> {
  readonly result: Result;
  readonly position: string;
}

export interface Standby {
  /**
   * Runs the work of a read there, where it has come to `position`; null asks for the primary. Undefined where the primary is
   * to run it, whatever the reason: what the work did and threw meanwhile counts for nothing.
   */
  read<Result>(
    visit: Omit<Visit, 'effect' | 'claim'>,
    position: string | null,
    work: (session: Session) => Promise<Result>,
  ): Promise<StandbyAnswer<Result> | undefined>;
  close(): Promise<void>;
}

/** After it was away it is left alone for so long. */
const restMillis = 2_000;

interface StandbyRow {
  readonly at: string;
  readonly target_id: string | null;
  readonly project_id: string | null;
  readonly moves: number;
  readonly stands_at: string;
}

export function createStandby(options: StandbyOptions): Standby {
  const { url, max, answerWithinMillis, primary, onIdleError, onRead } = options;
  const pool = createPool({
    ...{ url, max, role: 'muster_app', name: 'coordination-api standby', onIdleError },
    ...{ connectWithinMillis: answerWithinMillis, answerWithinMillis },
  });
  const primaryMoves = createMoves(primary);
  let restsUntil = 0;

  const attempt: Standby['read'] = async (visit, position, work) => {
    if (position === null) throw new Declined('unasked');
    if (performance.now() < restsUntil) throw new Declined('away');
    const { rights, orgId, orgRank, target } = visit;
    const { told, learn } = (rights ?? new RememberedRights(null)).recall(orgRank, target);
    const [, , epoch, expiresAt, projects] = told;
    if (epoch === null) throw new Declined('rights');
    const stood = { position: '', moves: -1 };
    const { kind, ref } = target ?? { kind: null, ref: null };
    const wayIn: WayIn<Entry> = {
      ...{ effect: 'read', orgId, claim: null, onPosition: undefined },
      enter: sql<StandbyRow>`select * from app.enter_standby(
        ${position}::pg_lsn, ${orgId}, ${epoch}, ${kind}, ${ref}, ${projects})`,
      read: (row) => {
        const { at, target_id, project_id, moves, stands_at } = row as StandbyRow;
        // A read of several bursts enters with each: it stands where it stood first.
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
      orgOf: () => null,
    };
    const session = new Session((statements) => sendRead(pool, statements), wayIn);
    const asked = primaryMoves(orgId, epoch, expiresAt);
    const [moves, result] = await Promise.all([
      asked,
      inTransactionSpan(() => letIn(session, () => work(session))),
    ]);
    if (moves === null) throw new Declined('rights');
    if (stood.moves < moves) throw new Declined('behind');
    return { result, position: stood.position };
  };

  return {
    read: async (...asked) => {
      try {
        const answer = await attempt(...asked);
        onRead('standby');
        return answer;
      } catch (error) {
        const outcome = outcomeOf(error);
        if (isAway(error)) restsUntil = performance.now() + restMillis;
        onRead(outcome);
        return undefined;
      }
    },
    close: () => pool.end(),
  };
}

/** The primary is to answer. */
class Declined extends Error {
  readonly outcome: ReadOutcome;

  constructor(outcome: ReadOutcome) {
    super(`the primary answers: ${outcome}`);
    this.name = 'Declined';
    this.outcome = outcome;
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof DatabaseAway || (error instanceof BurstError && error.sqlState === undefined);

function outcomeOf(error: unknown): ReadOutcome {
  if (error instanceof Declined) return error.outcome;
  if (isAway(error) || error instanceof DatabaseBusy) return 'away';
  const sqlState = error instanceof BurstError ? error.sqlState : undefined;
  if (sqlState === 'MU425') return 'behind';
  return sqlState === 'MU428' ? 'rights' : 'refused';
}

interface Asked {
  readonly orgId: string;
  readonly epoch: string;
  readonly expiresAt: string | null;
  readonly resolve: (moves: number | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asks the primary how far an organization has moved; null where its rights are in another epoch, or the token is over. What
 * a process asks in one turn of its loop is one statement.
 */
function createMoves(primary: Pool) {
  let waiting: Asked[] = [];
  const send = async (): Promise<void> => {
    const asked = waiting;
    waiting = [];
    try {
      const orgs = asked.map(({ orgId }) => orgId);
      const epochs = asked.map(({ epoch }) => epoch);
      const expiries = asked.map(({ expiresAt }) => expiresAt);
      const [answer] = await sendRead(primary, [
        bind(sql`select nth, moves from app.moves_while_rights_hold(${orgs}, ${epochs}, ${expiries})`, null),
      ]);
      const moves = new Map((answer?.rows ?? []).map((row) => [row['nth'], row['moves'] as number | null]));
      for (const [index, { resolve }] of asked.entries()) resolve(moves.get(index + 1) ?? null);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };
  return (orgId: string, epoch: string, expiresAt: string | null): Promise<number | null> =>
    new Promise((resolve, reject) => {
      if (waiting.push({ orgId, epoch, expiresAt, resolve, reject }) === 1) setImmediate(() => void send());
    });
}
