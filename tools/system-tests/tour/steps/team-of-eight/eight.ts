import { createOrganization } from '@muster/organizations';
import { type NotificationKind } from '@muster/contract';
import { attempt } from '../../attempts.ts';
import { type Check } from '../../check.ts';
import { type Instance } from '../../instance.ts';
import { Journal } from '../../journal.ts';
import { joinByToken, type Teammate, withPool } from '../../team.ts';

/** The owner creates the organization. Everyone else accepts an invitation. */
export const roles = {
  ...{ Hanna: 'owner', Ivo: 'admin', Jana: 'member', Kofi: 'member', Lea: 'member', Milo: 'member' },
  ...{ Nia: 'member', Omar: 'viewer' },
} as const;
export type TourPerson = keyof typeof roles;
export const people = Object.keys(roles) as TourPerson[];

/** The number of seats at first: one too few for the last member. */
export const firstSeats = 6;

/** Eight people with roles in their own organization. */
export interface Eight {
  readonly orgSlug: string;
  readonly instance: Instance;
  readonly journal: Journal;
  readonly joined: Map<TourPerson, Teammate>;
  /** The number of notifications of each kind that each inbox must contain. */
  readonly inboxes: Map<TourPerson, Partial<Record<NotificationKind, number>>>;
  /** IDs that one step passes to the next. */
  readonly ids: Map<'team' | 'project', string>;
  readonly checks: Check[];
}

/** A step of the tour's afternoon. `run` returns a line with the step's result. */
export interface EightStep {
  readonly name: string;
  readonly run: (eight: Eight) => Promise<string>;
}

export const emailOf = ({ orgSlug }: Pick<Eight, 'orgSlug'>, name: string): string =>
  `${name.toLowerCase()}@${orgSlug}.example`;

/** Creates the organization with its owner as the only member. */
export async function foundEight(instance: Instance, orgSlug: string): Promise<Eight> {
  const owner = { email: emailOf({ orgSlug }, 'Hanna'), name: 'Hanna' };
  const eight: Eight = {
    ...{ orgSlug, instance, journal: new Journal(instance.baseUrl, orgSlug) },
    ...{ joined: new Map(), inboxes: new Map(), ids: new Map(), checks: [] },
  };
  await withPool(instance, (pool) =>
    createOrganization(pool, {
      ...{ name: 'Team of eight', slug: orgSlug, plan: 'team', seats: firstSeats, owner },
    }),
  );
  eight.joined.set('Hanna', await joinAsOperator(eight, 'Hanna'));
  return eight;
}

/** Creates a token for a member or one of their agents, as an operator would. */
export const joinAsOperator = (eight: Eight, name: TourPerson, agent?: string): Promise<Teammate> =>
  withPool(eight.instance, (pool) =>
    joinByToken(pool, eight.instance, eight.journal, {
      ...{ org: eight.orgSlug, email: emailOf(eight, name), agent },
    }),
  );

export function person({ joined }: Eight, name: TourPerson): Teammate {
  const found = joined.get(name);
  if (found === undefined) throw new Error(`${name} has not joined`);
  return found;
}

export function idOf({ ids }: Eight, kind: 'team' | 'project'): string {
  const id = ids.get(kind);
  if (id === undefined) throw new Error(`the step that creates the ${kind} failed`);
  return id;
}

/** Adds a notification to the expected inboxes of the given people. */
export function expectNotice(eight: Eight, kind: NotificationKind, ...names: readonly TourPerson[]): void {
  for (const name of names) {
    const inbox = eight.inboxes.get(name) ?? {};
    eight.inboxes.set(name, { ...inbox, [kind]: (inbox[kind] ?? 0) + 1 });
  }
}

/** Returns `200`, or the status and reason of a refusal, as in `422 policy`. */
export async function answerTo(call: Promise<unknown>): Promise<string> {
  const outcome = await attempt(call);
  return outcome.ok ? '200' : `${outcome.refusal.status} ${outcome.reason}`;
}
