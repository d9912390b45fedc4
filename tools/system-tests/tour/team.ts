import { type Client, createClient, httpTransport } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { type Instance } from './instance.ts';
import { type Journal } from './journal.ts';

/** A member or an agent, with a client that uses their token. */
export interface Teammate {
  readonly name: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly handle: string;
  readonly token: string;
  readonly api: Client;
}

const owner = { email: 'ana@tour.example', name: 'Ana' };
const members = [
  { email: 'ben@tour.example', name: 'Ben', role: 'admin' },
  { email: 'chloe@tour.example', name: 'Chloé', role: 'member' },
  { email: 'dmitri@tour.example', name: 'Dmitri', role: 'member' },
  { email: 'esra@tour.example', name: 'Esra', role: 'member' },
  { email: 'femi@tour.example', name: 'Femi', role: 'member' },
  { email: 'gwen@tour.example', name: 'Gwen', role: 'viewer' },
] as const;

export type TourTeam = Awaited<ReturnType<typeof foundTeam>>;

/** Creates a separate organization for this tour, so that the next tour on the same instance starts empty. */
export async function foundTeam(instance: Instance, journal: Journal, orgSlug: string) {
  return withPool(instance, async (pool) => {
    await createOrganization(pool, { name: 'On tour', slug: orgSlug, plan: 'team', owner });
    for (const member of members) await addMember(pool, { org: orgSlug, ...member });
    const join = (name: string, agent?: string): Promise<Teammate> =>
      joinByToken(pool, instance, journal, { org: orgSlug, email: `${name}@tour.example`, agent });
    const people = {
      ...{ ana: await join('ana'), ben: await join('ben'), chloe: await join('chloe') },
      ...{ dmitri: await join('dmitri'), esra: await join('esra'), femi: await join('femi') },
      // The agents of Chloé and Dmitri.
      ...{ scout: await join('chloe', 'Scout'), sorter: await join('dmitri', 'Sorter') },
    };
    /** Gwen is a viewer, who reads and comments. All others may work on stories. */
    const gwen = await join('gwen');
    return { orgSlug, ...people, gwen, writers: Object.values(people) };
  });
}

/** Creates a token as an operator would, and returns its owner with a client. */
export async function joinByToken(
  pool: Pool,
  instance: Instance,
  journal: Journal,
  {
    org,
    email,
    agent,
  }: { readonly org: string; readonly email: string; readonly agent?: string | undefined },
): Promise<Teammate> {
  const { token } = await createToken(pool, {
    ...{ org, member: email, name: 'tour', scopes: ['admin'] },
    ...(agent !== undefined && { agent }),
  });
  return joinAs(instance, journal, token, agent);
}

/** Identifies the owner of a token. Returns the owner with a client that uses this token. */
export async function joinAs(
  { baseUrl }: Instance,
  journal: Journal,
  token: string,
  agent?: string,
): Promise<Teammate> {
  const { member, token: own } = await createClient(httpTransport({ baseUrl, token })).session.identity();
  return {
    ...{ name: agent ?? member.name, memberId: member.id, agentId: own.agentId },
    ...{ token, handle: member.handle, api: journal.clientOf(token) },
  };
}

/** Runs `work` with a database pool that has an operator's rights. */
export async function withPool<Result>(
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
