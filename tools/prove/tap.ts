/**
 * Stands between a program and PostgreSQL. It takes guards out of the program's SQL on its way, so that what
 * happens without a guard is seen without a switch in the product; and it holds a connection before a statement, so
 * that two transactions meet where they are to meet. The program is told another address, and knows nothing.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type Removal, takeOut } from './guards.ts';
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
  /** The guards that were in no statement. */
  unmet(): Removal[];
  /** What went wrong where they were to be taken out. */
  faults(): string[];
  stop(): void;
}

/** Throws if there is a guard that no tap had a statement for: then it was never tried without. */
export function requireMet(...taps: readonly Tap[]): void {
  const faults = taps.flatMap((tap) => tap.faults());
  if (faults.length > 0) throw new Error([...new Set(faults)].join('\n'));
  const [first, ...others] = taps.map((tap) => new Set(tap.unmet()));
  const nowhere = [...(first ?? [])].filter((removal) => others.every((unmet) => unmet.has(removal)));
  if (nowhere.length === 0) return;
  throw new Error(`no statement has:\n${nowhere.map(({ guard }) => `  ${guard}`).join('\n')}`);
}

interface Waiting {
  readonly text: string;
  readonly reach: () => void;
  readonly opened: Promise<unknown>;
}

export async function startTap(databaseUrl: string, removals: readonly Removal[] = []): Promise<Tap> {
  const target = new URL(databaseUrl);
  const unmet = new Set(removals);
  const faults: string[] = [];
  const gates: Waiting[] = [];
  const lines = new Set<Line>();
  const rewrite = (sql: string): string => {
    let text = sql;
    for (const removal of removals) {
      try {
        const other = takeOut(text, removal, 'sql');
        if (other === undefined) continue;
        unmet.delete(removal);
        text = other;
      } catch (error) {
        faults.push(String(error));
      }
    }
    return text;
  };
  const server = createServer((client) => {
    const line = new Line(client, connect(Number(target.port), target.hostname), rewrite, gates);
    lines.add(line);
    client.once('close', () => lines.delete(line));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  const url = new URL(databaseUrl);
  url.port = address.port.toString();
  return {
    url: url.href,
    pids: () => [...lines].flatMap(({ pid }) => pid ?? []),
    holdBefore: (text) => {
      const reached = Promise.withResolvers<undefined>();
      const opened = Promise.withResolvers<undefined>();
      const settle = (one: typeof reached) => () => {
        one.resolve(undefined);
      };
      gates.push({ text, reach: settle(reached), opened: opened.promise });
      return { reached: reached.promise, open: settle(opened) };
    },
    unmet: () => [...unmet],
    faults: () => [...faults],
    stop: () => {
      server.close();
      for (const line of lines) line.end();
    },
  };
}

/** One connection. */
class Line {
  pid: number | undefined;
  readonly #upstream: Socket;
  readonly #client: Socket;
  readonly #rewrite: (sql: string) => string;
  readonly #gates: Waiting[];
  /** The SQL by the names of statements, as the program wrote it. */
  readonly #statements = new Map<string, string>();
  #held: Message[] | undefined;
  #reach: (() => void) | undefined;
  /** Statements that were sent and are not answered yet. */
  #running = 0;

  constructor(client: Socket, upstream: Socket, rewrite: (sql: string) => string, gates: Waiting[]) {
    this.#client = client;
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
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }

  end(): void {
    this.#client.destroy();
    this.#upstream.destroy();
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
