/** Calls operations in this process, through the pipeline and the handlers on Postgres, without HTTP. */
import { createPool, newId, type Pool } from '@muster/driver';
import { handlers, performableHandlers, reactions } from '@muster/operations';
import { createAuthenticator, execute, toApiError } from '@muster/runtime';
import { type GuardRemoval } from './guards.ts';
import { foundOrganization, type TestOrg, type TestUser } from './organization.ts';
import { type Database, type Scope } from './services.ts';
import { openTap, type Tap } from './tap.ts';

/** Ana leads every project. Ben and Chloé contribute, Robo is Chloé's agent, and Dan is a viewer. */
export const names = ['ana', 'ben', 'chloe', 'robo', 'dan'] as const;
export type Name = (typeof names)[number];

export interface TestTeam extends Omit<TestOrg, 'people'> {
  readonly database: Database;
  readonly people: Readonly<Record<Name, TestUser>>;
}

/** Returns an organization in a new database that all runs share. Each run creates its own boards. */
export const findTeam = (scope: Scope): Promise<TestTeam> => scope.share('team', foundTeam);

/** Creates an organization that no other run uses. */
export async function foundTeam(scope: Scope): Promise<TestTeam> {
  const database = await scope.database();
  const organization = await foundOrganization(database, 4, { scopes: ['write'], viewers: [3] });
  const [ana, ben, chloe, dan] = organization.people;
  if (ben === undefined || chloe === undefined || dan === undefined) throw new Error('somebody is missing');
  const robo = await organization.enter(chloe.email, { scopes: ['write'], agent: 'Robo' });
  return { ...organization, database, people: { ana, ben, chloe, robo, dan } };
}

/** Adds a member and an agent of theirs who may be removed, and a token with which Ana may remove them. */
export async function joinForAWhile({
  people,
  join,
  enter,
}: TestTeam): Promise<{ newcomer: TestUser; agent: TestUser; admin: TestUser }> {
  const newcomer = await join();
  return {
    newcomer,
    agent: await enter(newcomer.email, { scopes: ['write'], agent: 'Guest' }),
    admin: await enter(people.ana.email, { scopes: ['admin'] }),
  };
}

/** A call as it will be made. */
export interface NewCall {
  readonly person: Name | TestUser;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The outcome of a call: its result, or the reason of its refusal. */
export type CallResult =
  | { readonly result: Record<string, unknown> }
  | { readonly refused: string; readonly details: Record<string, unknown> };

/**
 * A way to call operations through its own connection pool and its own tap. A tap relays to PostgreSQL and
 * removes guards from the SQL.
 */
export interface Desk {
  readonly tap: Tap;
  /** Makes a call. An internal error is thrown, not returned. */
  call(person: TestUser, operation: string, params: object): Promise<CallResult>;
}

const all = performableHandlers(handlers);

/** Returns the reason of a refusal, or its code if it has no reason. */
const reasonOf = (details: Record<string, unknown> | undefined, code: string): string =>
  code === 'forbidden' || typeof details?.['reason'] !== 'string' ? code : details['reason'];

/** Opens a desk whose calls go through a tap that removes the given guards. */
export async function openDesk(
  { database }: TestTeam,
  services: Scope,
  { removals = [], max = 2 }: { removals?: readonly GuardRemoval[]; max?: number } = {},
): Promise<Desk> {
  const tap = await openTap(services, database.url, removals);
  const pool: Pool = createPool({ url: tap.url, role: 'muster_app', name: 'muster-prove-desk', max });
  // A call that waits for a lock that a test holds may wait up to the statement timeout, because the machine
  // may be busy.
  pool.on('connect', (client) => void client.query('set lock_timeout = 0').catch(() => undefined));
  services.onStop(() => pool.end());
  const authenticator = createAuthenticator(database.owner);
  services.onStop(() => authenticator.close());
  return {
    tap,
    call: async (person, operation, params) => {
      const handler = all.get(operation);
      if (handler === undefined) throw new Error(`nobody here handles ${operation}`);
      try {
        const { json } = await execute(
          pool,
          handler,
          {
            token: await authenticator.authenticate(person.token),
            // The parameters pass through JSON, as they would over HTTP.
            params: JSON.parse(JSON.stringify(params)) as unknown,
            requestId: newId(),
            ...{ idempotencyKey: null, ip: null, userAgent: null },
          },
          { handlers: all, reactions },
        );
        return { result: JSON.parse(json) as Record<string, unknown> };
      } catch (error) {
        const known = toApiError(error);
        if (known.code === 'internal' || known.code === 'unavailable') throw error;
        const details = known.details as Record<string, unknown> | undefined;
        return { refused: reasonOf(details, known.code), details: details ?? {} };
      }
    },
  };
}

/** Makes a call at a desk, as a member of the team or as the given person. */
export const callAt = (
  desk: Desk,
  { people }: TestTeam,
  { person, operation, params }: NewCall,
): Promise<CallResult> => desk.call(typeof person === 'string' ? people[person] : person, operation, params);

/** Returns the result of a call. Throws if it was refused. */
export async function must(answer: Promise<CallResult>): Promise<Record<string, unknown>> {
  const given = await answer;
  if ('result' in given) return given.result;
  throw new Error(`refused: ${given.refused} ${JSON.stringify(given.details)}`);
}
