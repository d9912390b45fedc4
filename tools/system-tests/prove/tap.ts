/**
 * A relay between a program and PostgreSQL. It removes guards from the program's SQL, so that the product
 * needs no switch for tests without a guard. It also holds a connection before a chosen statement, so that
 * two transactions collide at that point. The program only gets another address.
 */
import { type Socket } from 'node:net';
import { startRelay } from '@muster/testing/relay';
import { type GuardRemoval, takeOut } from './guards.ts';
import { type Scope } from './services.ts';
import { flush, type WireMessage, messagesOf, readBackendPid, readBind, readParse, withSql } from './wire.ts';

/** A hold of a connection before a statement. */
export interface Gate {
  /** Resolves when a connection has reached the statement and all earlier statements are finished. */
  readonly reached: Promise<unknown>;
  open(): void;
}

export interface Tap {
  /** The address of the database through the tap. */
  readonly url: string;
  /** Returns the process ids of the Postgres backends behind the open connections. */
  pids(): number[];
  /** Holds the next connection that sends a statement with the given text. */
  holdBefore(text: string): Gate;
}

interface Waiting {
  readonly text: string;
  readonly reach: () => void;
  readonly opened: Promise<unknown>;
}

/**
 * Opens a proxy to Postgres that removes the given guards (conditions of statements) until the scope ends. The
 * scope fails if a guard was in no statement.
 */
export async function openTap(
  scope: Scope,
  databaseUrl: string,
  removals: readonly GuardRemoval[] = [],
): Promise<Tap> {
  const gates: Waiting[] = [];
  const lines = new Set<Line>();
  for (const removal of removals) scope.expectMet(removal);
  const rewrite = (sql: string): string => {
    let text = sql;
    for (const removal of removals) {
      try {
        const other = takeOut(text, removal, 'sql');
        if (other === undefined) continue;
        scope.noteMet(removal);
        text = other;
      } catch (error) {
        scope.noteFault(String(error));
      }
    }
    return text;
  };
  const relay = await startRelay(databaseUrl, (client, upstream) => {
    const line = new Line(client, upstream, rewrite, gates);
    lines.add(line);
    client.once('close', () => lines.delete(line));
  });
  scope.onStop(() => relay.stop());
  return {
    url: relay.through(databaseUrl),
    pids: () => [...lines].flatMap(({ pid }) => pid ?? []),
    holdBefore: (text) => {
      const reached = Promise.withResolvers<undefined>();
      const opened = Promise.withResolvers<undefined>();
      gates.push({ text, reach: () => reached.resolve(undefined), opened: opened.promise });
      return { reached: reached.promise, open: () => opened.resolve(undefined) };
    },
  };
}

/** One connection between the program and PostgreSQL. */
class Line {
  pid: number | undefined;
  readonly #upstream: Socket;
  readonly #rewrite: (sql: string) => string;
  readonly #gates: Waiting[];
  /** The SQL of each prepared statement as the program wrote it, by name. */
  readonly #statements = new Map<string, string>();
  #held: WireMessage[] | undefined;
  #reach: (() => void) | undefined;
  /** The number of statements that were sent and have no answer yet. */
  #running = 0;

  constructor(client: Socket, upstream: Socket, rewrite: (sql: string) => string, gates: Waiting[]) {
    this.#upstream = upstream;
    this.#rewrite = rewrite;
    this.#gates = gates;
    const fromClient = messagesOf('client');
    const fromServer = messagesOf('server');
    client.on('data', (chunk) => {
      this.#send(fromClient(chunk));
    });
    upstream.on('data', (chunk) => {
      client.write(chunk);
      for (const message of fromServer(chunk)) this.#hear(message);
    });
  }

  #send(messages: readonly WireMessage[]): void {
    const out: Buffer[] = [];
    for (const message of messages) {
      if (this.#held !== undefined) {
        this.#held.push(message);
        continue;
      }
      const gate = message.type === 'B' ? this.#gateBefore(readBind(message)) : undefined;
      if (gate !== undefined) {
        this.#held = [message];
        this.#reach = gate.reach;
        out.push(flush);
        void gate.opened.then(() => {
          const held = this.#held ?? [];
          this.#held = undefined;
          this.#send(held);
        });
        continue;
      }
      if (message.type === 'E') this.#running += 1;
      if (message.type !== 'P') {
        out.push(message.bytes);
        continue;
      }
      const { name, sql } = readParse(message);
      this.#statements.set(name, sql);
      const other = this.#rewrite(sql);
      out.push(other === sql ? message.bytes : withSql(message, other).bytes);
    }
    if (out.length > 0) this.#upstream.write(Buffer.concat(out));
    this.#lookWhetherReached();
  }

  #gateBefore(name: string): Waiting | undefined {
    const sql = this.#statements.get(name) ?? '';
    const index = this.#gates.findIndex(({ text }) => sql.includes(text));
    return index < 0 ? undefined : this.#gates.splice(index, 1)[0];
  }

  #hear(message: WireMessage): void {
    if (message.type === 'K') this.pid = readBackendPid(message);
    // The messages CommandComplete, EmptyQueryResponse and PortalSuspended.
    if (message.type === 'C' || message.type === 'I' || message.type === 's')
      this.#running = Math.max(0, this.#running - 1);
    // After an error Postgres skips the remaining statements of the batch.
    if (message.type === 'E') this.#running = 0;
    this.#lookWhetherReached();
  }

  #lookWhetherReached(): void {
    if (this.#held === undefined || this.#running > 0) return;
    this.#reach?.();
    this.#reach = undefined;
  }
}
