import { type Client, createClient, httpTransport } from '@muster/client';
import { createPool, type Pool } from '@muster/database';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { type Instance } from './instance.ts';
import { type Caller, type Journal } from './journal.ts';

/** Somebody at work: who they are, and the API as their token opens it. */
export interface Teammate extends Caller {
  readonly handle: string;
  readonly token: string;
  readonly api: Client;
}

export interface Team {
  readonly orgSlug: string;
  readonly orgId: string;
  readonly ana: Teammate;
  readonly ben: Teammate;
  readonly chloe: Teammate;
  readonly dmitri: Teammate;
  readonly esra: Teammate;
  readonly femi: Teammate;
  /** A viewer: reads and comments. */
  readonly gwen: Teammate;
  /** Chloé's agent. */
  readonly scout: Teammate;
  /** Dmitri's agent. */
  readonly sorter: Teammate;
  /** All who may work on stories, people and agents: eight. */
  readonly writers: readonly Teammate[];
  /** The owner of another organization, who has no business here. */
  readonly neighbour: Teammate;
  /** How many audit entries the operators' hands have left in the organization. */
  readonly operatorActs: number;
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

/** Founds an organization of its own for this tour, so that the next one on the same instance finds nothing of it. */
export async function foundTeam(instance: Instance, journal: Journal, orgSlug: string): Promise<Team> {
  const pool = createPool({ url: instance.databaseUrl, role: null, name: 'muster-tour', max: 2 });
  try {
    const { org } = await createOrganization(pool, { name: 'On tour', slug: orgSlug, plan: 'team', owner });
    for (const member of members) await addMember(pool, { org: orgSlug, ...member });
    let tokens = 0;
    const join = async (email: string, agent?: string): Promise<Teammate> => {
      tokens += 1;
      return enter(pool, instance, journal, orgSlug, email, agent);
    };
    const ana = await join(owner.email);
    const ben = await join('ben@tour.example');
    const chloe = await join('chloe@tour.example');
    const dmitri = await join('dmitri@tour.example');
    const esra = await join('esra@tour.example');
    const femi = await join('femi@tour.example');
    const gwen = await join('gwen@tour.example');
    const scout = await join('chloe@tour.example', 'Scout');
    const sorter = await join('dmitri@tour.example', 'Sorter');

    const nextDoor = `${orgSlug}-next-door`;
    const nadia = { email: 'nadia@tour.example', name: 'Nadia' };
    await createOrganization(pool, { name: 'Next door', slug: nextDoor, plan: 'free', owner: nadia });
    const neighbour = await enter(pool, instance, journal, nextDoor, nadia.email);
    return {
      ...{ orgSlug, orgId: org.id, ana, ben, chloe, dmitri, esra, femi, gwen, scout, sorter, neighbour },
      writers: [ana, ben, chloe, dmitri, esra, femi, scout, sorter],
      operatorActs: 1 + members.length + tokens,
    };
  } finally {
    await pool.end();
  }
}

/** A token made by the operators' hand, and who it turns out to be. */
async function enter(
  pool: Pool,
  { baseUrl }: Instance,
  journal: Journal,
  org: string,
  email: string,
  agent?: string,
): Promise<Teammate> {
  const scopes = ['admin' as const];
  const { token } = await createToken(pool, {
    ...{ org, member: email, name: 'tour', scopes },
    ...(agent !== undefined && { agent }),
  });
  const { member, token: mine } = await createClient(httpTransport({ baseUrl, token })).session.identity();
  const caller = { name: agent ?? member.name, memberId: member.id, agentId: mine.agentId };
  return { ...caller, token, handle: member.handle, api: journal.clientOf(caller, token) };
}
