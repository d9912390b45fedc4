/** Creates organizations with members and their tokens. */
import { randomBytes } from 'node:crypto';
import { addMember, createOrganization, createToken } from '@muster/organizations';
import { type Database } from './services.ts';

/** A token with its member, and with its agent if the token belongs to an agent. */
export interface TestUser {
  readonly token: string;
  readonly email: string;
  readonly handle: string;
  readonly memberId: string;
  readonly agentId: string | null;
}

type TokenSetUp = Omit<Parameters<typeof createToken>[1], 'org' | 'member' | 'name'>;

export interface TestOrg {
  readonly orgId: string;
  readonly slug: string;
  /** The first member owns the organization, and therefore leads every project. */
  readonly people: readonly [TestUser, ...TestUser[]];
  readonly join: (role?: 'member' | 'viewer') => Promise<TestUser>;
  /** Creates another token for a member, or for one of the member's agents. */
  readonly enter: (email: string, setUp: TokenSetUp) => Promise<TestUser>;
}

export interface OrganizationSetUp {
  /** The scopes of the members' tokens. */
  readonly scopes?: TokenSetUp['scopes'];
  /** The indexes of the people who are viewers. */
  readonly viewers?: readonly number[];
}

export async function foundOrganization(
  { owner }: Database,
  count: number,
  { scopes = ['admin'], viewers = [] }: OrganizationSetUp = {},
): Promise<TestOrg> {
  const slug = `prove-${randomBytes(4).toString('hex')}`;
  let joined = 0;
  const newMember = (): { email: string; name: string } => {
    const index = joined;
    joined += 1;
    return { email: `p${index}@prove.example`, name: `Person ${index}` };
  };
  const enter: TestOrg['enter'] = async (email, setUp) => {
    const { id, token } = await createToken(owner, { org: slug, member: email, name: 'prove', ...setUp });
    const { rows } = await owner.query<Pick<TestUser, 'handle' | 'memberId' | 'agentId'>>(
      `select m.handle, m.id as "memberId", t.agent_id as "agentId" from tokens t
       join members m on m.org_id = t.org_id and m.id = t.member_id where t.id = $1`,
      [id],
    );
    const [holder] = rows;
    if (holder === undefined) throw new Error('a member is missing');
    return { token, email, ...holder };
  };
  const join: TestOrg['join'] = async (role = 'member') => {
    const member = newMember();
    await addMember(owner, { org: slug, ...member, role });
    return enter(member.email, { scopes });
  };
  const first = newMember();
  const { org } = await createOrganization(owner, { name: 'Proof', slug, plan: 'enterprise', owner: first });
  const people: [TestUser, ...TestUser[]] = [await enter(first.email, { scopes })];
  for (let index = 1; index < count; index += 1)
    people.push(await join(viewers.includes(index) ? 'viewer' : 'member'));
  return { orgId: org.id, slug, people, join, enter };
}
