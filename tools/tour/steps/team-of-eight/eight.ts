import { createClient, httpTransport, type MusterError } from '@muster/client';
import { createPool, type Pool } from '@muster/database';
import { createOrganization, createToken } from '@muster/organizations';
import { type NotificationKind } from '@muster/registry';
import { attempt } from '../../attempts.ts';
import { type Check } from '../../check.ts';
import { type Instance } from '../../instance.ts';
import { Journal } from '../../journal.ts';
import { type Teammate } from '../../team.ts';

/** The owner founds it; all others come in by an invitation. */
export type Person = 'Hanna' | 'Ivo' | 'Jana' | 'Kofi' | 'Lea' | 'Milo' | 'Nia' | 'Omar';

export const roles = {
  ...{ Hanna: 'owner', Ivo: 'admin', Jana: 'member', Kofi: 'member', Lea: 'member', Milo: 'member' },
  ...{ Nia: 'member', Omar: 'viewer' },
} as const satisfies Record<Person, string>;

export const people = Object.keys(roles) as Person[];

/** So few that the last member finds none. */
export const firstSeats = 6;

type Inbox = Partial<Record<NotificationKind, number>>;

/** Eight people with roles in an organization of their own: what they work with and what the tour knows of it. */
export interface Eight {
  readonly orgSlug: string;
  readonly instance: Instance;
  readonly journal: Journal;
  /** Who is in, by name. */
  readonly there: Map<Person, Teammate>;
  /** What each inbox must have, by what happened. */
  readonly inboxes: Map<Person, Inbox>;
  /** Ids that one step leaves to the next, by what they are of. */
  readonly ids: Map<'team' | 'project' | 'story', string>;
  readonly checks: Check[];
  /** How many audit entries there are besides those of calls: of operators, and of those who came in. */
  operatorActs: number;
  accepted: number;
}

/** Part of what the eight do. `run` answers a line that says what happened. */
export interface EightStep {
  readonly name: string;
  readonly run: (eight: Eight) => Promise<string>;
}

export const emailOf = ({ orgSlug }: Pick<Eight, 'orgSlug'>, name: string): string =>
  `${name.toLowerCase()}@${orgSlug}.example`;

/** Founds the organization with its owner, who is alone in it. */
export async function foundEight(instance: Instance, orgSlug: string): Promise<Eight> {
  const owner = { email: emailOf({ orgSlug }, 'Hanna'), name: 'Hanna' };
  await withPool(instance, (pool) =>
    createOrganization(pool, {
      ...{ name: 'Team of eight', slug: orgSlug, plan: 'team', seats: firstSeats, owner },
    }),
  );
  const eight: Eight = {
    ...{ orgSlug, instance, journal: new Journal(instance.baseUrl, orgSlug) },
    ...{ there: new Map(), inboxes: new Map(), ids: new Map(), checks: [], operatorActs: 1, accepted: 0 },
  };
  eight.there.set('Hanna', await enter(eight, await operatorToken(eight, 'Hanna')));
  return eight;
}

/** A token made by the operators' hand: the owner's, and those of agents. */
export async function operatorToken(eight: Eight, name: Person, agent?: string): Promise<string> {
  const { token } = await withPool(eight.instance, (pool) =>
    createToken(pool, {
      ...{ org: eight.orgSlug, member: emailOf(eight, name), name: 'tour', scopes: ['admin'] },
      ...(agent !== undefined && { agent }),
    }),
  );
  eight.operatorActs += 1;
  return token;
}

async function withPool<Result>(
  { databaseUrl }: Instance,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({ url: databaseUrl, role: null, name: 'muster-tour', max: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Who has this token, and the API as it opens it. */
export async function enter(
  { instance: { baseUrl }, journal }: Eight,
  token: string,
  agent?: string,
): Promise<Teammate> {
  const { member, token: mine } = await createClient(httpTransport({ baseUrl, token })).session.identity();
  const caller = { name: agent ?? member.name, memberId: member.id, agentId: mine.agentId };
  return { ...caller, token, handle: member.handle, api: journal.clientOf(caller, token) };
}

export function person({ there }: Eight, name: Person): Teammate {
  const found = there.get(name);
  if (found === undefined) throw new Error(`${name} never came in`);
  return found;
}

export function idOf({ ids }: Eight, what: 'team' | 'project' | 'story'): string {
  const id = ids.get(what);
  if (id === undefined) throw new Error(`the step that makes the ${what} broke off`);
  return id;
}

/** Notes that these must have been told of something. */
export function tell({ inboxes }: Eight, kind: NotificationKind, ...names: readonly Person[]): void {
  for (const name of names) {
    const inbox = inboxes.get(name) ?? {};
    inboxes.set(name, { ...inbox, [kind]: (inbox[kind] ?? 0) + 1 });
  }
}

/** What a call comes to: `200`, or why not, as in `422 policy`. */
export async function comesTo(call: Promise<unknown>): Promise<string> {
  const outcome = await attempt(call);
  return outcome.ok ? '200' : `${outcome.refusal.status} ${outcome.reason}`;
}

/** The refusal that a call must meet. */
export async function refusalOf(call: Promise<unknown>): Promise<MusterError | undefined> {
  const outcome = await attempt(call);
  return outcome.ok ? undefined : outcome.refusal;
}
