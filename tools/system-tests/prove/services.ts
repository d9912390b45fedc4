/**
 * The temporary servers of the properties. They start when the first property needs them; the runner of the
 * properties stops them.
 */
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '@muster/driver';
import { cloneTemplate, databaseUrl, provideTemplate } from '@muster/testing/template';
import { type Postgres, startPostgres } from '@muster/tools';
import { type GuardRemoval } from './guards.ts';

/** A migrated database that no other run uses. */
export interface Database {
  /** The address with the login that owns the tables. */
  readonly url: string;
  /**
   * A pool with the owner's login, which sees all rows. Tests use it to prepare data and to check the result.
   */
  readonly owner: Pool;
}

type Cleanup = () => Promise<void> | void;

/** The resources of one run. They are released in reverse order. */
export class Scope {
  /** The scope of resources that all runs share, and that outlives this run. */
  readonly home: Scope;
  readonly #endings: Cleanup[] = [];
  readonly #shared = new Map<string, Promise<unknown>>();
  /** The guards to remove from statements, and for each of them if a statement contained it. */
  readonly #met = new Map<GuardRemoval, boolean>();
  readonly #faults = new Set<string>();
  readonly #server: () => Promise<Postgres>;

  constructor(server: () => Promise<Postgres>, home?: Scope) {
    this.#server = server;
    this.home = home ?? this;
  }

  onStop(end: Cleanup): void {
    this.#endings.push(end);
  }

  async stop(): Promise<void> {
    for (const end of this.#endings.splice(0).reverse()) await end();
  }

  /** Clones the migrated database on the shared server. */
  async database(): Promise<Database> {
    return cloneFor(this, (await this.#server()).url);
  }

  /** Returns a resource that all runs share. The first caller creates it, and it outlives this run. */
  share<Shared>(name: string, make: (home: Scope) => Promise<Shared>): Promise<Shared> {
    const { home } = this;
    const shared = (home.#shared.get(name) as Promise<Shared> | undefined) ?? make(home);
    home.#shared.set(name, shared);
    return shared;
  }

  expectMet(removal: GuardRemoval): void {
    this.#met.set(removal, this.#met.get(removal) ?? false);
  }

  noteMet(removal: GuardRemoval): void {
    this.#met.set(removal, true);
  }

  noteFault(fault: string): void {
    this.#faults.add(fault);
  }

  /** Throws if a guard was in no statement, because in that case no call was tested without the guard. */
  requireMet(): void {
    if (this.#faults.size > 0) throw new Error([...this.#faults].join('\n'));
    const unmet = [...this.#met].filter(([, isMet]) => !isMet);
    if (unmet.length === 0) return;
    throw new Error(`no statement has:\n${unmet.map(([{ guard }]) => `  ${guard}`).join('\n')}`);
  }
}

/** Clones the migrated database on the server at `serverUrl`. The clone is dropped when the scope ends. */
export async function cloneFor(scope: Scope, serverUrl: string): Promise<Database> {
  const name = `prove_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl, name);
  const admin = createPool({ url: serverUrl, role: null, name: 'muster-prove-admin', max: 1 });
  scope.onStop(() => admin.end());
  scope.onStop(async () => {
    await admin.query(`drop database ${name} with (force)`);
  });
  const url = databaseUrl(serverUrl, name);
  const owner = createPool({ url, role: null, name: 'muster-prove', max: 3 });
  scope.onStop(() => owner.end());
  return { url, owner };
}

/** Owns the Postgres server that all runs share, and gives each run its own scope. */
export class Services {
  #server: Promise<Postgres> | undefined;
  readonly #home = new Scope(() => (this.#server ??= startServer()));

  /** Calls `run` with a new scope, and stops the scope afterwards. */
  async during<Result>(run: (scope: Scope) => Promise<Result>): Promise<Result> {
    const scope = new Scope(() => (this.#server ??= startServer()), this.#home);
    try {
      const result = await run(scope);
      scope.requireMet();
      return result;
    } finally {
      await scope.stop();
    }
  }

  async stop(): Promise<void> {
    await this.#home.stop();
    const server = this.#server;
    this.#server = undefined;
    await (await server)?.stop();
  }
}

async function startServer(): Promise<Postgres> {
  const server = await startPostgres({ durable: false });
  try {
    await provideTemplate(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Counts rows. `from` is the SQL after the word `from`. */
export async function countOf(owner: Pool, from: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(`select count(*)::int as count from ${from}`, [
    ...values,
  ]);
  return rows[0]?.count ?? 0;
}
