/**
 * Several statements in one round trip. They go to the server with a single Sync, so that outside BEGIN…COMMIT
 * they are one implicit transaction: the first that fails undoes the ones before it, and those after it are
 * skipped. Each statement is prepared once per connection and, since its columns are known from then on,
 * never described again. This is the extended-query protocol as Postgres documents it ("Pipelining"), through the
 * same door that pg-cursor uses: an object with `submit`.
 */
import pg, { type ClientBase, type Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import { prepareValue } from './prepare-value.ts';
import { inBurstSpan } from './trace.ts';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface StatementResult {
  readonly rows: Record<string, unknown>[];
  /** The tag Postgres answers with, such as `INSERT 0 1`. */
  readonly command: string;
}

/** pg's parsers go by any type's number, though its types name only those of built-in ones. */
const parserOf = pg.types.getTypeParser as (typeId: number) => (text: string) => unknown;

interface Field {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A statement as one connection knows it. */
interface Prepared {
  readonly name: string;
  /** Null until its columns were described. */
  fields: Field[] | null;
  /** A row of nulls. Rows are copies of it: one that grows column by column costs a long list a quarter more. */
  emptyRow: Record<string, unknown>;
}

/** The part of pg's Connection that a submittable writes to. */
export interface Wire {
  readonly stream: { write(bytes: Buffer): unknown };
}

/** Messages that are always the same. */
const describeMessage = serialize.describe({ type: 'P', name: '' });
const executeMessage = serialize.execute();
const syncMessage = serialize.sync();

interface ConnectionMemory {
  readonly prepared: Map<string, Prepared>;
  /** Names whose Parse may or may not have happened before an error; closed before the next burst. */
  doubtful: string[];
  count: number;
}

/** Shapes of statements are as many as the code has; a connection that sees more than this starts afresh. */
const mostPrepared = 1_000;

/** "cached plan must not change result type" after a migration, and "prepared statement does not exist". */
const staleStatement = new Set(['0A000', '26000']);

const memories = new WeakMap<object, ConnectionMemory>();

function memoryOf(wire: object): ConnectionMemory {
  let memory = memories.get(wire);
  if (memory === undefined) {
    memory = { prepared: new Map(), doubtful: [], count: 0 };
    memories.set(wire, memory);
  }
  return memory;
}

type Outcome = { results: StatementResult[] } | { error: Error; at: number };

/** Hears that a burst is answered, before who sent it does; `fault` is null where all of it was done. */
export interface Carrier {
  answered(fault: Error | null): void;
}

const late = (burst: Burst): void => {
  burst.callback(new Error('Query read timeout'));
};

/**
 * Statements that go out together; `done` is told what became of them. A value that cannot be sent throws here. A field of
 * it holds no closure that knows it: V8 would keep the rows of each answer (client.ts).
 */
export class Burst implements Submittable {
  private readonly statements: readonly Statement[];
  private readonly results: StatementResult[] = [];
  private readonly used: Prepared[] = [];
  private readonly fresh = new Set<Prepared>();
  private rows: Record<string, unknown>[] = [];
  private memory: ConnectionMemory | undefined;
  private failure: Error | undefined;
  private isWritten = false;
  private isSettled = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly done: (outcome: Outcome) => void;
  carrier: Carrier | null = null;

  constructor(statements: readonly Statement[], done: (outcome: Outcome) => void) {
    this.statements = statements.map(({ sql, parameters }) => ({
      sql,
      parameters: parameters.map(prepareValue),
    }));
    this.done = done;
  }

  /** Starts the time for its answer. */
  answerWithin(millis: number): void {
    this.timer = setTimeout(late, millis, this);
  }

  /** Ends it; pg calls it where the connection fails. */
  callback(error: Error | null, outcome?: Outcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    const end = outcome ?? { error: error ?? new Error('no outcome'), at: this.results.length };
    this.carrier?.answered('error' in end ? end.error : null);
    this.done(end);
  }

  /** Whether the server has answered each of its statements before: then no failure of a burst before it leaves one unknown. */
  isKnownTo(wire: Wire): boolean {
    const { prepared, doubtful } = memoryOf(wire);
    return (
      doubtful.length === 0 &&
      this.statements.every(({ sql }) => {
        const known = prepared.get(sql);
        return known !== undefined && known.fields !== null;
      })
    );
  }

  /** What is to be written. Who writes it before the burst's turn, writes all bursts in the order of their turns. */
  messages(wire: Wire): Buffer[] {
    this.isWritten = true;
    const memory = (this.memory = memoryOf(wire));
    if (memory.prepared.size > mostPrepared) {
      memory.doubtful.push(...[...memory.prepared.values()].map((prepared) => prepared.name));
      memory.prepared.clear();
    }
    const messages = memory.doubtful.splice(0).map((name) => serialize.close({ type: 'S', name }));
    for (const statement of this.statements) this.add(messages, memory, statement);
    messages.push(syncMessage);
    return messages;
  }

  submit(connection: unknown): void {
    if (this.isWritten) return;
    const wire = connection as Wire;
    // One buffer, one system call: as many as there are messages cost more than the statements they carry.
    wire.stream.write(Buffer.concat(this.messages(wire)));
  }

  private add(messages: Buffer[], memory: ConnectionMemory, statement: Statement): void {
    let prepared = memory.prepared.get(statement.sql);
    if (prepared === undefined) {
      prepared = { name: `s${(memory.count += 1)}`, fields: null, emptyRow: {} };
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
      parse: parserOf(field.dataTypeID),
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
    // A statement without columns answers NoData, which pg passes to no handler: it is known now all the same.
    if (prepared !== undefined) prepared.fields ??= [];
    this.results.push({ rows: this.rows, command: message.text });
    this.rows = [];
  }

  handleError(error: Error): void {
    const stale = staleStatement.has((error as { code?: string }).code ?? '');
    for (const { sql } of this.statements) {
      const prepared = this.memory?.prepared.get(sql);
      if (prepared === undefined) continue;
      const doubtful = this.fresh.has(prepared) && prepared.fields === null;
      if (!doubtful && !stale) continue;
      this.memory?.doubtful.push(prepared.name);
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
    this.failure = new Error('COPY is not for bursts');
  }

  handleCopyData(): void {
    this.failure = new Error('COPY is not for bursts');
  }
}

/** A statement of a burst failed: `at` is its place, and those after it did not run. */
export class BurstError extends Error {
  readonly at: number;
  /** What the server said; undefined where the connection failed, and then what was sent may have happened. */
  readonly sqlState: string | undefined;
  readonly constraint: string | undefined;
  /** What the server added to it. */
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
 * Sends the statements in one round trip and answers their results in order, or throws a BurstError. A value that
 * cannot be sent throws before anything is: half a burst would be kept.
 */
export const sendBurst = (client: ClientBase, statements: readonly Statement[]): Promise<StatementResult[]> =>
  burstOf(statements, (burst) => {
    client.query(burst);
  });

/** What becomes of the statements as a burst that `send` sends, unless it refuses it. */
export const burstOf = (
  statements: readonly Statement[],
  send: (burst: Burst, refuse: (error: unknown) => void) => void,
): Promise<StatementResult[]> =>
  inBurstSpan(
    statements,
    () =>
      new Promise((resolve, reject) => {
        send(
          new Burst(statements, (outcome) => {
            if ('error' in outcome) reject(new BurstError(outcome.error, outcome.at));
            else resolve(outcome.results);
          }),
          reject,
        );
      }),
  );
