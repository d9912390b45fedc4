/**
 * Reads of many callers over few connections. A read is a burst that is a transaction by itself and waits for no lock. So
 * bursts are written one behind the other before the first is answered, and answered in that order ("Pipelining" in the
 * description of Postgres' protocol). Two connections that are always busy cost Postgres and Node less than ten that wait
 * for the other side by turns (docs/decisions/performance.md). None is written behind one that takes long.
 *
 * A short write may be sent so too: one that waits for no other lock than such writes hold. It may wait, and those behind
 * it with it, so they are fewer.
 */
import pg, { type PoolClient } from 'pg';
import {
  type Burst,
  burstOf,
  type Carrier,
  type Statement,
  type StatementResult,
  type Wire,
} from './burst.ts';
import { checkOut, type Pool } from './pool.ts';

/** So many reads have a connection each; more of them share. */
const fewConnections = 2;
/** Bursts on one connection, the one that is being answered among them. */
const mostReads = 16;
const mostWrites = 4;
/** A connection whose burst has taken this long gets no more of them until it is answered. */
const slowMillis = 2;

interface Read {
  readonly burst: Burst;
  /** Answers it with an error that is none of its burst's. */
  readonly refuse: (error: unknown) => void;
}

/** A connection, for as long as it has something to answer. */
class SharedConnection implements Carrier {
  private readonly client: PoolClient;
  private readonly wire: Wire;
  private readonly onChange: (connection: SharedConnection) => void;
  /** In the order of their answers. */
  private reads: Read[] = [];
  /** How many of them are written, or about to be with `unsent`: the first ones. */
  private written = 0;
  private unsent: Buffer[] = [];
  /** When the first of them had its turn, by the process's clock. */
  private since = 0;
  private fault: Error | null = null;
  private readonly onEnd = (): void => {
    this.break(new Error('the connection ended'));
  };

  constructor(client: PoolClient, onChange: (connection: SharedConnection) => void) {
    this.client = client;
    this.wire = (client as PoolClient & { readonly connection: Wire }).connection;
    this.onChange = onChange;
    client.once('end', this.onEnd);
  }

  get length(): number {
    return this.reads.length;
  }

  get isBroken(): boolean {
    return this.fault !== null;
  }

  hasRoom(most: number, now: number): boolean {
    return this.reads.length < most && now - this.since < slowMillis;
  }

  add(read: Read): void {
    this.reads.push(read);
    if (this.reads.length === 1) this.begin(read.burst);
    else if (this.written === this.reads.length - 1 && read.burst.isKnownTo(this.wire)) {
      this.write(read.burst);
    }
  }

  /** Returns the connection to its pool; answers the reads that it did not write. */
  release(): Read[] {
    this.client.off('end', this.onEnd);
    this.client.release(this.fault ?? undefined);
    return this.reads;
  }

  private begin(burst: Burst): void {
    this.since = performance.now();
    if (this.written === 0) this.write(burst);
    burst.carrier = this;
    // From now on pg gives it the answers.
    this.client.query(burst);
  }

  /** The first of them is. What Postgres refuses ends a burst; anything else, the connection. */
  answered(fault: Error | null): void {
    if (fault === null || fault instanceof pg.DatabaseError) this.finish();
    else this.break(fault);
  }

  private finish(): void {
    if (this.isBroken) return;
    this.reads.shift();
    this.written -= 1;
    const [next] = this.reads;
    if (next !== undefined) this.begin(next.burst);
    this.onChange(this);
  }

  /** What the process asks for in one turn of its loop goes out in one system call. */
  private write(burst: Burst): void {
    this.written += 1;
    if (this.unsent.length === 0) {
      setImmediate(() => {
        this.flush();
      });
    }
    this.unsent.push(...burst.messages(this.wire));
  }

  private flush(): void {
    if (this.unsent.length === 0) return;
    this.wire.stream.write(Buffer.concat(this.unsent));
    this.unsent = [];
  }

  private break(fault: Error): void {
    if (this.isBroken) return;
    this.fault = fault;
    this.unsent = [];
    // pg tells the first.
    const [, ...ahead] = this.reads.splice(0, this.written);
    for (const { burst } of ahead) burst.callback(fault);
    this.onChange(this);
  }
}

/** The reads of one pool, or its short writes. */
class SharedReads {
  private readonly pool: Pool;
  /** On one connection. */
  private readonly most: number;
  /** Connections that reads need not leave to other work. */
  private readonly kept: number;
  private readonly connections = new Set<SharedConnection>();
  private waiting: Read[] = [];
  private isOpening = false;

  constructor(pool: Pool, most: number) {
    this.pool = pool;
    this.most = most;
    this.kept = Math.min(fewConnections, Math.floor(pool.options.max / 2));
  }

  send(statements: readonly Statement[]): Promise<StatementResult[]> {
    return burstOf(statements, (burst, refuse) => {
      this.waiting.push({ burst, refuse });
      this.spread();
    });
  }

  private spread(): void {
    for (;;) {
      const [read] = this.waiting;
      if (read === undefined) return;
      const connection = this.roomiest();
      if (connection === null) {
        void this.open();
        return;
      }
      this.waiting.shift();
      connection.add(read);
    }
  }

  private roomiest(): SharedConnection | null {
    const now = performance.now();
    let index = 0;
    let best: SharedConnection | null = null;
    for (const connection of this.connections) {
      // As long as there are reads, what they have would never become free.
      if (index >= this.kept && this.othersWait()) break;
      index += 1;
      if (connection.length === 0) return connection;
      if (connection.hasRoom(this.most, now) && (best === null || connection.length < best.length))
        best = connection;
    }
    return this.connections.size < fewConnections ? null : best;
  }

  /** Whether other work waits for a connection of the pool. */
  private othersWait(): boolean {
    return this.pool.waitingCount > (this.isOpening ? 1 : 0);
  }

  /** One at a time: by the time that it is there, another may have become free. */
  private async open(): Promise<void> {
    if (this.isOpening) return;
    this.isOpening = true;
    const late = new Set(this.waiting);
    try {
      this.connections.add(new SharedConnection(await checkOut(this.pool), this.changed));
    } catch (error) {
      this.waiting = this.waiting.filter((read) => !late.has(read));
      for (const { refuse } of late) refuse(error);
    }
    this.isOpening = false;
    this.spread();
    for (const connection of this.connections) this.releaseIdle(connection);
  }

  /** One for all connections: made in `open`, it would keep alive what waited there, for as long as its connection. */
  private readonly changed = (connection: SharedConnection): void => {
    if (connection.isBroken) {
      this.connections.delete(connection);
      this.waiting.unshift(...connection.release());
    }
    this.spread();
    this.releaseIdle(connection);
  };

  /** Other work of the pool has it meanwhile. */
  private releaseIdle(connection: SharedConnection): void {
    if (connection.length === 0 && this.connections.delete(connection)) connection.release();
  }
}

interface Shared {
  readonly reads: SharedReads;
  readonly writes: SharedReads;
}

const sharedOf = new WeakMap<Pool, Shared>();

function sharedIn(pool: Pool): Shared {
  let shared = sharedOf.get(pool);
  if (shared === undefined) {
    shared = { reads: new SharedReads(pool, mostReads), writes: new SharedReads(pool, mostWrites) };
    sharedOf.set(pool, shared);
  }
  return shared;
}

/** Sends a read over the connections of the pool that reads share. Throws as `sendBurst` and `checkOut` do. */
export const sendRead = (pool: Pool, statements: readonly Statement[]): Promise<StatementResult[]> =>
  sharedIn(pool).reads.send(statements);

/**
 * Sends a short write over the connections of the pool that such writes share; what it does is a transaction by itself.
 * Where a connection is lost, it may have been done all the same, so it must be one that can be repeated.
 */
export const sendShortWrite = (pool: Pool, statements: readonly Statement[]): Promise<StatementResult[]> =>
  sharedIn(pool).writes.send(statements);
