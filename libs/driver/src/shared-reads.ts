/**
 * Multiplexes the reads of many callers over few connections. A read is a burst that is its own transaction and waits
 * for no lock. So a connection sends further bursts before the first is answered, and Postgres answers them in order
 * ("Pipelining" in the description of its protocol). Two connections that are always busy cost Postgres and Node less
 * than ten that alternate between sending and waiting (docs/decisions/performance.md). A connection with a slow burst
 * gets no more.
 *
 * A short write may be sent this way, too, if it waits only for locks that other short writes hold. A waiting write
 * delays the writes behind it, so fewer of them share a connection.
 */
import pg, { type PoolClient } from 'pg';
import {
  type StatementBurst,
  runBurst,
  type BurstListener,
  type StatementResult,
  type WritableConnection,
} from './burst.ts';
import { checkOutConnection, type Pool } from './pool.ts';
import { type Statement } from './sql.ts';

/** Up to this many concurrent reads get their own connection. Further reads are pipelined on them. */
const dedicatedReadConnections = 2;
/** The maximum number of bursts on one connection, including the burst that is being answered. */
const maxReadsPerConnection = 16;
const maxWritesPerConnection = 4;
/**
 * A connection whose current burst takes longer than this many milliseconds gets no further bursts until that
 * burst is answered.
 */
const slowBurstMillis = 2;

interface PendingRead {
  readonly burst: StatementBurst;
  /** Rejects only this read, with an error that the other queries of the same round trip did not cause. */
  readonly reject: (error: unknown) => void;
}

/** A checked-out connection that reads share while it has unanswered bursts. */
class SharedConnection implements BurstListener {
  private readonly client: PoolClient;
  private readonly wire: WritableConnection;
  private readonly onChange: (connection: SharedConnection) => void;
  /** The unanswered reads, in the order in which Postgres answers them. */
  private reads: PendingRead[] = [];
  /** The number of reads, counted from the first, that are already written to the socket or queued in `unsent`. */
  private written = 0;
  private unsent: Buffer[] = [];
  /** The time, by `performance.now()`, at which the first read of the queue became the one that is answered next. */
  private since = 0;
  private fault: Error | null = null;
  private readonly onEnd = (): void => {
    this.break(new Error('the connection ended'));
  };

  constructor(client: PoolClient, onChange: (connection: SharedConnection) => void) {
    this.client = client;
    this.wire = (client as PoolClient & { readonly connection: WritableConnection }).connection;
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
    return this.reads.length < most && now - this.since < slowBurstMillis;
  }

  add(read: PendingRead): void {
    this.reads.push(read);
    if (this.reads.length === 1) this.begin(read.burst);
    else if (this.written === this.reads.length - 1 && read.burst.isKnownTo(this.wire)) {
      this.write(read.burst);
    }
  }

  /**
   * Releases the connection to its pool. Returns the reads that were not written, so that the caller can send
   * them elsewhere.
   */
  release(): PendingRead[] {
    this.client.off('end', this.onEnd);
    this.client.release(this.fault ?? undefined);
    return this.reads;
  }

  private begin(burst: StatementBurst): void {
    this.since = performance.now();
    if (this.written === 0) this.write(burst);
    burst.carrier = this;
    // From now on pg passes the server messages to this burst.
    this.client.query(burst);
  }

  /**
   * Finishes the first read of the queue. A database error fails only that read; any other error breaks the
   * connection.
   */
  onFinished(fault: Error | null): void {
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

  /** Queues the burst. All bursts of one event-loop turn are written with one system call. */
  private write(burst: StatementBurst): void {
    this.written += 1;
    if (this.unsent.length === 0)
      setImmediate(() => {
        this.flush();
      });
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
    // This slice skips the first read, because pg itself rejects that one.
    const [, ...ahead] = this.reads.splice(0, this.written);
    for (const { burst } of ahead) burst.callback(fault);
    this.onChange(this);
  }
}

/** The dispatcher of the reads, or of the short writes, of one pool. */
class SharedConnectionDispatcher {
  private readonly pool: Pool;
  /** The maximum number of unanswered bursts on one connection. */
  private readonly most: number;
  /** The number of connections that reads may keep while other work waits for a connection. */
  private readonly kept: number;
  private readonly connections = new Set<SharedConnection>();
  private waiting: PendingRead[] = [];
  private isOpening = false;

  constructor(pool: Pool, most: number) {
    this.pool = pool;
    this.most = most;
    this.kept = Math.min(dedicatedReadConnections, Math.floor(pool.options.max / 2));
  }

  send(statements: readonly Statement[]): Promise<StatementResult[]> {
    return runBurst(statements, (burst, refuse) => {
      this.waiting.push({ burst, reject: refuse });
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
      // While other work waits, only the first `kept` connections get reads. Otherwise the other connections
      // might never become free.
      if (index >= this.kept && this.othersWait()) break;
      index += 1;
      if (connection.length === 0) return connection;
      if (connection.hasRoom(this.most, now) && (best === null || connection.length < best.length))
        best = connection;
    }
    return this.connections.size < dedicatedReadConnections ? null : best;
  }

  /** Returns true if other work waits for a connection of the pool. */
  private othersWait(): boolean {
    return this.pool.waitingCount > (this.isOpening ? 1 : 0);
  }

  /** Opens one connection at a time, because a shared one may become free before the new one is ready. */
  private async open(): Promise<void> {
    if (this.isOpening) return;
    this.isOpening = true;
    const late = new Set(this.waiting);
    try {
      this.connections.add(new SharedConnection(await checkOutConnection(this.pool), this.changed));
    } catch (error) {
      this.waiting = this.waiting.filter((read) => !late.has(read));
      for (const { reject } of late) reject(error);
    }
    this.isOpening = false;
    this.spread();
    for (const connection of this.connections) this.releaseIdle(connection);
  }

  /**
   * Handles a change of a connection. All connections share this closure. One created in `open` would keep the waiting
   * reads of that call in memory as long as its connection.
   */
  private readonly changed = (connection: SharedConnection): void => {
    if (connection.isBroken) {
      this.connections.delete(connection);
      this.waiting.unshift(...connection.release());
    }
    this.spread();
    this.releaseIdle(connection);
  };

  /** Returns an idle connection to the pool for other work. */
  private releaseIdle(connection: SharedConnection): void {
    if (connection.length === 0 && this.connections.delete(connection)) connection.release();
  }
}

interface SharedConnections {
  readonly reads: SharedConnectionDispatcher;
  readonly writes: SharedConnectionDispatcher;
}

const sharedByPool = new WeakMap<Pool, SharedConnections>();

function sharedConnectionsOf(pool: Pool): SharedConnections {
  let shared = sharedByPool.get(pool);
  if (shared === undefined) {
    shared = {
      reads: new SharedConnectionDispatcher(pool, maxReadsPerConnection),
      writes: new SharedConnectionDispatcher(pool, maxWritesPerConnection),
    };
    sharedByPool.set(pool, shared);
  }
  return shared;
}

/** Sends a read over the shared connections of the pool. Throws the errors of `sendBurst` and `checkOutConnection`. */
export const sendRead = (pool: Pool, statements: readonly Statement[]): Promise<StatementResult[]> =>
  sharedConnectionsOf(pool).reads.send(statements);

/**
 * Sends a short write, which is its own transaction, over the shared connections of the pool. The write must be
 * idempotent, because it may have been committed when its connection is lost.
 */
export const sendShortWrite = (pool: Pool, statements: readonly Statement[]): Promise<StatementResult[]> =>
  sharedConnectionsOf(pool).writes.send(statements);
