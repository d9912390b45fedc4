/**
 * Opens tenant transactions; no other code reaches tenant data. `inOrganization` opens a transaction and
 * checks the caller's token. `app.enter` checks token, membership and role again, and sets the organization
 * for row-level security. Then the work runs and the transaction commits.
 *
 * Statements that are issued in the same tick are pipelined, and the first ones are sent with the prologue. A
 * read is therefore one round trip: the authorization check and its query are one implicit transaction. A
 * write sends BEGIN, the check and its first statements, then the statements that depend on their results.
 * Statements deferred with `deferToCommit` are sent last, together with COMMIT.
 */
import {
  bindStatement,
  BurstError,
  checkOutConnection,
  type Db,
  inTransactionSpan,
  mayHaveCommitted,
  CommitOutcomeUnknown,
  type Pool,
  splitIntoPortions,
  type Query,
  sendBurst,
  sendRead,
  estimateBytes,
  sql,
  type Statement,
  type StatementResult,
  traceStatements,
} from '@muster/driver';
import { databaseFor, runWhereKnown } from '@muster/placement';
import { notFound } from '@muster/contract';
import { type AccessCheck, type AccessCheckInput, type AccessGrant } from './access-check.ts';
import {
  invitationAccessCheck,
  type InvitedAccount,
  type InvitationGrant,
  unknownInvitationSqlState,
} from './invited.ts';
import { TokenRightsCache, type RightsRow } from './remembered-rights.ts';

interface AccessCheckRow extends RightsRow {
  readonly at: string;
  readonly target_id: string | null;
  readonly position?: string;
}

const beginStatement: Statement = { sql: 'begin', parameters: [] };
const commitStatement: Statement = { sql: 'commit', parameters: [] };
const rollbackStatement: Statement = { sql: 'rollback', parameters: [] };

const walPositionColumn = sql.part`pg_current_wal_insert_lsn() as position`;
/** A query for the log position, sent after COMMIT if `onPosition` is set. */
const walPositionStatement = bindStatement(sql`select ${walPositionColumn}`, null);
const emptyPart = sql.part``;
const extraWalPositionColumn = sql.part`, ${walPositionColumn}`;

/** Builds the authorization check of a caller with a token. */
const tokenAccessCheck = (input: AccessCheckInput): AccessCheck<AccessGrant> => {
  const { effect, tokenHash, orgId, cachedRights, requiredOrgRank, target, claim, onWalPosition } = input;
  const { sentRights: told, storeRights: learn } = (cachedRights ?? new TokenRightsCache(null)).recall(
    requiredOrgRank,
    target,
  );
  const [reach, toldOrgId, epoch, expiresAt, projects] = told;
  const { kind, ref, rank } = target ?? { kind: null, ref: null, rank: null };
  return {
    effect,
    orgId,
    claim,
    onWalPosition,
    checkQuery: sql<AccessCheckRow>`select *${effect === 'read' && onWalPosition ? extraWalPositionColumn : emptyPart} from app.enter(
      ${tokenHash}, ${requiredOrgRank}, ${kind}, ${ref}, ${rank},
      ${reach}, ${toldOrgId}, ${epoch}, ${expiresAt}, ${projects})/*guard: the way in*//*end*/`,
    toGrant: (row) => {
      const answer = row as AccessCheckRow;
      const { at, target_id, project_id } = answer;
      if (answer.position !== undefined) onWalPosition?.(answer.position);
      return { at, orgRole: learn(answer), targetId: target_id, projectId: project_id };
    },
    orgIdOf: () => null,
  };
};

interface QueuedStatement {
  readonly statement: Statement;
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends statements in one round trip. */
type SendStatements = (statements: readonly Statement[]) => Promise<StatementResult[]>;

const parameterBytesOf = ({ parameters }: Statement): number => estimateBytes(parameters);

/**
 * A tenant transaction of one call. Collects statements, sends them together, and tracks whether a
 * transaction is open.
 */
export class DatabaseSession<Found = AccessGrant> implements Db {
  private readonly send: SendStatements;
  private readonly accessCheck: AccessCheck<Found>;
  private queuedStatements: QueuedStatement[] = [];
  private readonly deferredStatements: Statement[] = [];
  private scheduled = false;
  private readonly entryPromise: Promise<Found>;
  private orgId: string | null;
  private settleEntry: { resolve: (entry: Found) => void; reject: (error: unknown) => void };
  private begun = false;
  private inTransaction = false;
  private sending: Promise<unknown> = Promise.resolve();

  constructor(send: SendStatements, wayIn: AccessCheck<Found>) {
    this.send = send;
    this.accessCheck = wayIn;
    this.orgId = wayIn.orgId;
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    this.entryPromise = promise;
    this.settleEntry = { resolve, reject };
    // Work that never awaits the entry learns of a failed check from the statements that were sent with the
    // check.
    promise.catch(() => undefined);
  }

  async all<Row>(source: Query<Row>): Promise<Row[]> {
    return (await this.run(bindStatement(source, this.orgId))).rows as Row[];
  }

  async find<Row>(source: Query<Row>): Promise<Row | undefined> {
    return (await this.all(source))[0];
  }

  async get<Row>(source: Query<Row>): Promise<Row> {
    const row = await this.find(source);
    if (row === undefined) throw notFound();
    return row;
  }

  async one<Row>(source: Query<Row>): Promise<Row> {
    const row = await this.find(source);
    if (row === undefined) throw new Error('a required row is missing');
    return row;
  }

  deferToCommit(source: Query<unknown>): void {
    this.deferredStatements.push(bindStatement(source, this.orgId));
  }

  /** Sends the deferred statements before the next ones, so that those see their effect. */
  flush(): void {
    for (const statement of this.deferredStatements.splice(0)) {
      // A failure of this statement fails the whole pipeline. The caller of another statement in that
      // pipeline receives the error.
      this.run(statement).catch(() => undefined);
    }
  }

  async writeNow(): Promise<void> {
    for (const portion of splitIntoPortions(this.deferredStatements.splice(0), parameterBytesOf))
      await this.sendPortion(portion);
  }

  /** Drops deferred statements that are not sent yet. */
  discard(): void {
    this.deferredStatements.splice(0);
  }

  /** Resolves with the result of the authorization check, which is sent with the first statements. */
  entry(): Promise<Found> {
    if (!this.begun) this.schedule();
    return this.entryPromise;
  }

  /**
   * Sends the remaining statements, the last portion with COMMIT. The commit counts only if the server
   * answers with the command tag COMMIT.
   */
  async commit(): Promise<void> {
    if (this.accessCheck.effect === 'read') {
      await this.entry();
      return;
    }
    const portions = splitIntoPortions(this.deferredStatements, parameterBytesOf);
    const last = portions.pop() ?? [];
    for (const portion of portions) await this.sendPortion(portion);
    const prologue = this.begun ? [] : this.prologue();
    const { onWalPosition } = this.accessCheck;
    const statements = [...prologue, ...last, commitStatement];
    const commitAt = statements.length - 1;
    if (onWalPosition !== undefined) statements.push(walPositionStatement);
    this.begun = true;
    try {
      const results = await this.send(statements);
      if (prologue.length > 0) this.readEntry(results[1]);
      if (results[commitAt]?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
      this.inTransaction = false;
      onWalPosition?.(results[commitAt + 1]?.rows[0]?.['position'] as string);
    } catch (error) {
      const fault = mayHaveCommitted(error, commitAt) ? new CommitOutcomeUnknown(error) : error;
      this.settleEntry.reject(fault);
      this.inTransaction = true;
      throw fault;
    }
  }

  /** Rolls back the transaction. Returns true if the connection can be reused. */
  async abandon(error: unknown): Promise<boolean> {
    await this.sending.catch(() => undefined);
    const broken = (fault: unknown) =>
      fault instanceof CommitOutcomeUnknown || (fault instanceof BurstError && fault.sqlState === undefined);
    if (broken(error)) return false;
    if (!this.inTransaction) return true;
    try {
      await this.send([rollbackStatement]);
      return true;
    } catch {
      return false;
    }
  }

  private async sendPortion(portion: readonly Statement[]): Promise<void> {
    await Promise.all(portion.map((statement) => this.run(statement)));
  }

  private run(statement: Statement): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      this.queuedStatements.push({ statement, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.sending = this.sendWaiting();
    });
  }

  private prologue(): Statement[] {
    const { effect, claim } = this.accessCheck;
    const enter = bindStatement(this.accessCheck.checkQuery, null);
    if (effect === 'read') return [enter];
    return [
      beginStatement,
      enter,
      ...(claim === null ? [] : [bindStatement(claim, this.orgId)]),
      ...traceStatements(),
    ];
  }

  private readEntry(result: StatementResult | undefined): void {
    const row = result?.rows[0];
    if (row === undefined) throw new Error('the authorization check returned no row');
    const found = this.accessCheck.toGrant(row);
    this.orgId ??= this.accessCheck.orgIdOf(found);
    this.settleEntry.resolve(found);
  }

  private async sendWaiting(): Promise<void> {
    const batch = this.queuedStatements;
    this.queuedStatements = [];
    // Each pipeline of a read is a transaction of its own, so the authorization check is sent with each of
    // them.
    const prologue = this.begun && this.accessCheck.effect === 'write' ? [] : this.prologue();
    this.begun = true;
    try {
      if (this.accessCheck.effect === 'write') this.inTransaction = true;
      const results = await this.send([...prologue, ...batch.map((waiting) => waiting.statement)]);
      if (prologue.length > 0) this.readEntry(results[this.accessCheck.effect === 'read' ? 0 : 1]);
      batch.forEach((waiting, index) => {
        const result = results[prologue.length + index];
        if (result !== undefined) waiting.resolve(result);
      });
    } catch (error) {
      this.settleEntry.reject(error);
      for (const waiting of batch) waiting.reject(error);
    }
  }
}

/**
 * Runs `work` in a transaction of the organization of the caller's token. Throws the error of `work` after a
 * rollback. Throws a BurstError of class MU if the authorization check failed, whatever the work did until
 * then.
 */
export const inOrganization = <Result>(
  pool: Pool,
  input: AccessCheckInput,
  work: (session: DatabaseSession) => Promise<Result>,
): Promise<Result> =>
  databaseFor(pool, input.orgId).run((at) =>
    inTransactionSpan(() => runWithAccessCheck(at.pool, tokenAccessCheck(input), work)),
  );

/**
 * Runs `work` for a person with an invitation. `by` is SHA-256 of the invitation's secret, or the session of
 * an invited account. Throws a BurstError of class MU if there is no such invitation or the session has
 * ended.
 */
export const inInvitingOrganization = <Result>(
  pool: Pool,
  credential: Buffer | InvitedAccount,
  work: (session: DatabaseSession<InvitationGrant>) => Promise<Result>,
): Promise<Result> => {
  const enterAt = (at: Pool): Promise<Result> =>
    inTransactionSpan(() => runWithAccessCheck(at, invitationAccessCheck(credential), work));
  if (!Buffer.isBuffer(credential))
    return databaseFor(pool, credential.orgId).run((at) => enterAt(at.pool), {
      looksUpPlacement: true,
      unknownSqlState: unknownInvitationSqlState,
    });
  return runWhereKnown(pool, unknownInvitationSqlState, enterAt);
};

async function runWithAccessCheck<Found, Result>(
  pool: Pool,
  accessCheck: AccessCheck<Found>,
  work: (session: DatabaseSession<Found>) => Promise<Result>,
): Promise<Result> {
  if (accessCheck.effect === 'read') {
    const session = new DatabaseSession((statements) => sendRead(pool, statements), accessCheck);
    return runAndCommit(session, () => work(session));
  }
  const client = await checkOutConnection(pool);
  const session = new DatabaseSession((statements) => sendBurst(client, statements), accessCheck);
  let reusable = true;
  try {
    return await runAndCommit(session, () => work(session));
  } catch (error) {
    reusable = await session.abandon(error);
    throw error;
  } finally {
    client.release(!reusable);
  }
}

/**
 * Runs the work and commits. A failed authorization check takes precedence over any error that the work
 * found.
 */
export async function runAndCommit<Found, Result>(
  session: DatabaseSession<Found>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    await session.commit();
    return result;
  } catch (error) {
    throw await session.entry().then(
      () => error,
      (refusal: unknown) => refusal,
    );
  }
}
