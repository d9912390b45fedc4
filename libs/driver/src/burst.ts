/**
 * Sends several pipelined statements in one round trip. All go to the server with a single Sync, so outside
 * BEGIN…COMMIT they are one implicit transaction. The first failure rolls back the earlier statements and skips the
 * later ones. Each connection prepares a statement once. It knows the columns from then on and never describes the
 * statement again. Postgres documents this use of the extended-query protocol under "Pipelining". A burst reaches
 * pg's client through the interface that pg-cursor also uses: an object with `submit`.
 */
import pg, { type ClientBase, type Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import { prepareValue } from './prepare-value.ts';
import { type Statement } from './sql.ts';
import { inBurstSpan } from './trace.ts';

export interface StatementResult {
  readonly rows: Record<string, unknown>[];
  /** The command tag from Postgres, such as `INSERT 0 1`. */
  readonly command: string;
}

/** Looks up a parser by type OID. The cast is needed because pg's declarations accept only built-in OIDs. */
const typeParserOf = pg.types.getTypeParser as (typeId: number) => (text: string) => unknown;

interface ResultColumn {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A prepared statement of one connection. */
interface PreparedStatement {
  readonly name: string;
  /** The result columns; null until the server has described them. */
  fields: ResultColumn[] | null;
  /** A template row of nulls that each result row is copied from. Adding columns one by one makes long lists 25 % slower. */
  emptyRow: Record<string, unknown>;
}

/** The part of pg's Connection that a submittable writes to. */
export interface WritableConnection {
  readonly stream: { write(bytes: Buffer): unknown };
}

/** Protocol messages without variable parts, serialized once. */
const describeMessage = serialize.describe({ type: 'P', name: '' });
const executeMessage = serialize.execute();
const syncMessage = serialize.sync();

interface PreparedStatementCache {
  readonly prepared: Map<string, PreparedStatement>;
  /** Statement names that the server may or may not know after an error. The next burst closes them first. */
  namesToClose: string[];
  preparedCount: number;
}

/** The limit of prepared statements per connection, far above the number in the code. Beyond it, all are discarded. */
const maxPreparedStatements = 1_000;

/** SQLSTATEs of "cached plan must not change result type" (after a migration) and "prepared statement does not exist". */
const staleStatementSqlStates = new Set(['0A000', '26000']);

const statementCaches = new WeakMap<object, PreparedStatementCache>();

function statementCacheOf(connection: object): PreparedStatementCache {
  let memory = statementCaches.get(connection);
  if (memory === undefined) {
    memory = { prepared: new Map(), namesToClose: [], preparedCount: 0 };
    statementCaches.set(connection, memory);
  }
  return memory;
}

type BurstOutcome = { results: StatementResult[] } | { error: Error; at: number };

/** A listener that runs when a burst has finished, before its sender is notified. `fault` is null on success. */
export interface BurstListener {
  onFinished(fault: Error | null): void;
}

const failWithTimeout = (burst: StatementBurst): void => {
  burst.callback(new Error('Query read timeout'));
};

/**
 * A batch of pipelined statements. It passes its outcome to `done`. The constructor throws if a value cannot be
 * serialized. No field may hold a closure over the burst, because V8 would then retain the rows of each answer
 * (client.ts).
 */
export class StatementBurst implements Submittable {
  private readonly statements: readonly Statement[];
  private readonly results: StatementResult[] = [];
  private readonly used: PreparedStatement[] = [];
  private readonly fresh = new Set<PreparedStatement>();
  private rows: Record<string, unknown>[] = [];
  private memory: PreparedStatementCache | undefined;
  private failure: Error | undefined;
  private isWritten = false;
  private isSettled = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly done: (outcome: BurstOutcome) => void;
  carrier: BurstListener | null = null;

  constructor(statements: readonly Statement[], done: (outcome: BurstOutcome) => void) {
    this.statements = statements.map(({ sql, parameters }) => ({
      sql,
      parameters: parameters.map(prepareValue),
    }));
    this.done = done;
  }

  /** Starts the read timeout. */
  answerWithin(millis: number): void {
    this.timer = setTimeout(failWithTimeout, millis, this);
  }

  /** Settles the burst. pg calls this when the connection fails. */
  callback(error: Error | null, outcome?: BurstOutcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    const end = outcome ?? {
      error: error ?? new Error('the statement has no outcome'),
      at: this.results.length,
    };
    this.carrier?.onFinished('error' in end ? end.error : null);
    this.done(end);
  }

  /**
   * Returns true if this connection has prepared and described every statement. Then the failure of an earlier burst
   * cannot leave one of them unprepared.
   */
  isKnownTo(wire: WritableConnection): boolean {
    const { prepared, namesToClose } = statementCacheOf(wire);
    return (
      namesToClose.length === 0 &&
      this.statements.every(({ sql }) => {
        const known = prepared.get(sql);
        return known !== undefined && known.fields !== null;
      })
    );
  }

  /** Serializes the burst. A caller that writes messages ahead must write all bursts in the order of their answers. */
  messages(wire: WritableConnection): Buffer[] {
    this.isWritten = true;
    const memory = (this.memory = statementCacheOf(wire));
    if (memory.prepared.size > maxPreparedStatements) {
      memory.namesToClose.push(...[...memory.prepared.values()].map((prepared) => prepared.name));
      memory.prepared.clear();
    }
    const messages = memory.namesToClose.splice(0).map((name) => serialize.close({ type: 'S', name }));
    for (const statement of this.statements) this.add(messages, memory, statement);
    messages.push(syncMessage);
    return messages;
  }

  submit(connection: unknown): void {
    if (this.isWritten) return;
    const wire = connection as WritableConnection;
    // Write one buffer with one system call: a call per message costs more than the statements.
    wire.stream.write(Buffer.concat(this.messages(wire)));
  }

  private add(messages: Buffer[], memory: PreparedStatementCache, statement: Statement): void {
    let prepared = memory.prepared.get(statement.sql);
    if (prepared === undefined) {
      prepared = { name: `s${(memory.preparedCount += 1)}`, fields: null, emptyRow: {} };
      memory.prepared.set(statement.sql, prepared);
      messages.push(serialize.parse({ name: prepared.name, text: statement.sql }));
      this.fresh.add(prepared);
    }
    this.used.push(prepared);
    messages.push(serialize.bind({ statement: prepared.name, values: [...statement.parameters] }));
    if (prepared.fields === null) messages.push(describeMessage);
    messages.push(executeMessage);
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    const prepared = this.used[this.results.length];
    if (prepared === undefined) return;
    prepared.fields = message.fields.map((field) => ({
      name: field.name,
      parse: typeParserOf(field.dataTypeID),
    }));
    prepared.emptyRow = Object.fromEntries(prepared.fields.map(({ name }) => [name, null]));
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const prepared = this.used[this.results.length];
    if (prepared?.fields == null) return;
    const { fields } = prepared;
    const row = { ...prepared.emptyRow };
    for (let index = 0; index < fields.length; index += 1) {
      const field = fields[index];
      const value = message.fields[index];
      if (field !== undefined && value !== null && value !== undefined) row[field.name] = field.parse(value);
    }
    this.rows.push(row);
  }

  handleCommandComplete(message: { text: string }): void {
    const prepared = this.used[this.results.length];
    // The server answers NoData for a statement without columns. pg has no handler for that message, so the
    // columns are set to none here.
    if (prepared !== undefined) prepared.fields ??= [];
    this.results.push({ rows: this.rows, command: message.text });
    this.rows = [];
  }

  handleError(error: Error): void {
    const stale = staleStatementSqlStates.has((error as { code?: string }).code ?? '');
    for (const { sql } of this.statements) {
      const prepared = this.memory?.prepared.get(sql);
      if (prepared === undefined) continue;
      const doubtful = this.fresh.has(prepared) && prepared.fields === null;
      if (!doubtful && !stale) continue;
      this.memory?.namesToClose.push(prepared.name);
      this.memory?.prepared.delete(sql);
    }
    this.callback(null, { error, at: this.results.length });
  }

  handleReadyForQuery(): void {
    this.callback(
      null,
      this.failure ? { error: this.failure, at: this.results.length } : { results: this.results },
    );
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handlePortalSuspended(): void {
    this.failure = new Error('a portal was suspended, though no row limit was asked for');
  }

  handleCopyInResponse(): void {
    this.failure = new Error('COPY is not supported in pipelined queries');
  }

  handleCopyData(): void {
    this.failure = new Error('COPY is not supported in pipelined queries');
  }
}

/** The failure of the statement at index `at` of a burst. The later statements did not run. */
export class BurstError extends Error {
  readonly at: number;
  /** The SQLSTATE; undefined if the connection failed. In that case the statements may have taken effect. */
  readonly sqlState: string | undefined;
  readonly constraint: string | undefined;
  /** The DETAIL of the server error. */
  readonly detail: string | undefined;

  constructor(cause: Error, at: number) {
    super(cause.message, { cause });
    this.name = 'BurstError';
    this.at = at;
    if (cause instanceof pg.DatabaseError) {
      this.sqlState = cause.code;
      this.constraint = cause.constraint;
      this.detail = cause.detail;
    }
  }
}

/**
 * Sends the statements in one round trip and returns their results in order. Throws a BurstError if one fails. Throws
 * before it sends anything if a value cannot be serialized, because half a burst would be committed.
 */
export const sendBurst = (client: ClientBase, statements: readonly Statement[]): Promise<StatementResult[]> =>
  runBurst(statements, (burst) => {
    client.query(burst);
  });

/** Returns the results of a burst that `send` sends. Rejects if the burst fails or if `send` refuses it. */
export const runBurst = (
  statements: readonly Statement[],
  send: (burst: StatementBurst, refuse: (error: unknown) => void) => void,
): Promise<StatementResult[]> =>
  inBurstSpan(
    statements,
    () =>
      new Promise((resolve, reject) => {
        send(
          new StatementBurst(statements, (outcome) => {
            if ('error' in outcome) reject(new BurstError(outcome.error, outcome.at));
            else resolve(outcome.results);
          }),
          reject,
        );
      }),
  );
