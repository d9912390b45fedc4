/**
 * Stands between a program and PostgreSQL. It takes guards out of the program's SQL on its way, so that what
 * happens without a guard is seen without a switch in the product; and it holds a connection before a statement, so
 * that two transactions meet where they are to meet. The program is told another address, and knows nothing.
 */
import { type Socket } from 'node:net';
import { type Removal, takeOut } from './guards.ts';
import { startRelay } from './relay.ts';
import { type Scope } from './services.ts';
import { flush, type Message, messagesOf, readBackendPid, readBind, readParse, withSql } from './wire.ts';

/** A statement that a connection is held before. */
export interface Gate {
  /** The connection came there, and all before it is done. */
  readonly reached: Promise<unknown>;
  open(): void;
}

export interface Tap {
  /** The database, by way of the tap. */
  readonly url: string;
  /** The server processes of the connections that are open. */
  pids(): number[];
  /** Holds whichever connection next comes to a statement with this text in it. */
  holdBefore(text: string): Gate;
}

interface Waiting {
  readonly text: string;
  readonly reach: () => void;
  readonly opened: Promise<unknown>;
}

/** Takes these guards out until the scope ends, which then has to have met each of them. */
export async function openTap(
  scope: Scope,
  databaseUrl: string,
  removals: readonly Removal[] = [],
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

/** One connection. */
class Line {
  pid: number | undefined;
  readonly #upstream: Socket;
  readonly #rewrite: (sql: string) => string;
  readonly #gates: Waiting[];
  /** The SQL by the names of statements, as the program wrote it. */
  readonly #statements = new Map<string, string>();
  #held: Message[] | undefined;
  #reach: (() => void) | undefined;
  /** Statements that were sent and are not answered yet. */
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

  #send(messages: readonly Message[]): void {
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

  #hear(message: Message): void {
    if (message.type === 'K') this.pid = readBackendPid(message);
    // Done, empty, suspended.
    if (message.type === 'C' || message.type === 'I' || message.type === 's') {
      this.#running = Math.max(0, this.#running - 1);
    }
    // What follows an error is not run.
    if (message.type === 'E') this.#running = 0;
    this.#lookWhetherReached();
  }

  #lookWhetherReached(): void {
    if (this.#held === undefined || this.#running > 0) return;
    this.#reach?.();
    this.#reach = undefined;
  }
}
