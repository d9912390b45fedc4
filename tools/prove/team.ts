/** People who call operations in this process: the pipeline, the handlers and Postgres, and no HTTP in between. */
import { createPool, newId, type Pool } from '@muster/database';
import { handlers, performable, reactions } from '@muster/operations';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { createAuthenticator, execute, toApiError } from '@muster/runtime';
import { type Removal } from './guards.ts';
import { type Database, type Scope } from './services.ts';
import { startTap, type Tap } from './tap.ts';

/** Ana leads every project, Ben and Chloé contribute, Robo is Chloé's agent, Dan may look. */
export const names = ['ana', 'ben', 'chloe', 'robo', 'dan'] as const;
export type Name = (typeof names)[number];

export interface Person {
  readonly name: Name;
  readonly secret: string;
  readonly memberId: string;
  readonly agentId: string | null;
}

export interface Team {
  readonly orgId: string;
  readonly database: Database;
  readonly people: Readonly<Record<Name, Person>>;
}

const memberOf: Readonly<Record<Name, { email: string; name: string; agent?: string }>> = {
  ana: { email: 'ana@prove.example', name: 'Ana' },
  ben: { email: 'ben@prove.example', name: 'Ben' },
  chloe: { email: 'chloe@prove.example', name: 'Chloé' },
  robo: { email: 'chloe@prove.example', name: 'Chloé', agent: 'Robo' },
  dan: { email: 'dan@prove.example', name: 'Dan' },
};

const slug = 'prove';

const teams = new WeakMap<Scope, Promise<Team>>();

/** An organization in a database of its own, the same for all runs: each makes boards of its own. */
export function findTeam({ home }: Scope): Promise<Team> {
  const team = teams.get(home) ?? foundTeam(home);
  teams.set(home, team);
  return team;
}

/** One that nobody else works with. */
export async function foundTeam(scope: Scope): Promise<Team> {
  const database = await scope.database();
  const { owner } = database;
  const { org } = await createOrganization(owner, { name: 'Proof', slug, plan: 'team', owner: memberOf.ana });
  for (const [name, role] of [
    ['ben', 'member'],
    ['chloe', 'member'],
    ['dan', 'viewer'],
  ] as const) {
    await addMember(owner, { org: slug, ...memberOf[name], role });
  }
  const authenticator = createAuthenticator(owner);
  const enter = async (name: Name): Promise<Person> => {
    const { email, agent } = memberOf[name];
    const named = agent === undefined ? {} : { agent };
    const { token: secret } = await createToken(owner, {
      ...{ org: slug, member: email, name: 'prove', scopes: ['write'] },
      ...named,
    });
    const { identity } = await authenticator.authenticate(secret);
    return { name, secret, memberId: identity.memberId, agentId: identity.agentId };
  };
  try {
    const [ana, ben, chloe, robo, dan] = await Promise.all([
      enter('ana'),
      enter('ben'),
      enter('chloe'),
      enter('robo'),
      enter('dan'),
    ]);
    return { orgId: org.id, database, people: { ana, ben, chloe, robo, dan } };
  } finally {
    await authenticator.close();
  }
}

/** One more member of the team and an agent of theirs, that may have to go; and Ana as she may remove them. */
export async function joinForAWhile({
  database: { owner },
}: Team): Promise<{ newcomer: Person; agent: Person; admin: Person }> {
  const email = `${newId()}@prove.example`;
  await addMember(owner, { org: slug, email, name: 'Eve', role: 'member' });
  const authenticator = createAuthenticator(owner);
  const enter = async (
    name: Name,
    member: string,
    scopes: ('write' | 'admin')[],
    more: { agent?: string } = {},
  ): Promise<Person> => {
    const { token: secret } = await createToken(owner, {
      ...{ org: slug, member, name: 'prove', scopes },
      ...more,
    });
    const { identity } = await authenticator.authenticate(secret);
    return { name, secret, memberId: identity.memberId, agentId: identity.agentId };
  };
  try {
    // She stands in for nobody of the team; her name is not looked at.
    return {
      newcomer: await enter('ben', email, ['write']),
      agent: await enter('ben', email, ['write'], { agent: 'Guest' }),
      admin: await enter('ana', memberOf.ana.email, ['admin']),
    };
  } finally {
    await authenticator.close();
  }
}

/** What came of a call: its result, or what refused it. */
export type Answer =
  | { readonly result: Record<string, unknown> }
  | { readonly refused: string; readonly details: Record<string, unknown> };

/** A way to call operations, over a pool and a tap of its own. */
export interface Desk {
  readonly tap: Tap;
  /** A fault of ours is thrown. */
  call(person: Person, operation: string, params: Record<string, unknown>): Promise<Answer>;
}

const all = performable(handlers);

/** The reason where there is one, else the code. */
const reasonOf = (details: Record<string, unknown> | undefined, code: string): string =>
  code === 'forbidden' || typeof details?.['reason'] !== 'string' ? code : details['reason'];

/** Who works at a desk goes through a tap with these removals. */
export async function openDesk(
  { database }: Team,
  services: Scope,
  { removals = [], max = 2 }: { removals?: readonly Removal[]; max?: number } = {},
): Promise<Desk> {
  const tap = await startTap(database.url, removals);
  services.onStop(() => {
    tap.stop();
  });
  const pool: Pool = createPool({ url: tap.url, role: 'muster_app', name: 'muster-prove-desk', max });
  // Who waits for a lock that is held on purpose waits as long as a statement may take: the machine may be busy.
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
            token: await authenticator.authenticate(person.secret),
            // What crosses the wire is JSON.
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
