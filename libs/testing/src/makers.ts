/** Creates organizations with their people by SQL, without calling operations. */
import { newId } from '@muster/driver';
import { type OrgRole } from '@muster/contract';
import { hashToken, newTokenSecret } from '@muster/runtime';
import {
  type Makers,
  type OrgSetUp,
  type People,
  type Person,
  type TestClient,
  type TokenSetUp,
  type World,
} from './world.ts';

interface MemberNames {
  readonly handle: string;
  readonly name: string;
}

/** The shared state of a world's makers. */
interface MakerContext<Handlers> {
  /** Sends the statements that create records. */
  readonly rows: World['rows'];
  /** Queries the database immediately, even if `rows` batches its statements. */
  readonly read: World['rows'];
  /**
   * The names of the members that were created here, so that the creation of their tokens needs no lookup in
   * the database.
   */
  readonly memberNamesById: Map<string, MemberNames>;
  readonly clientOf: (secret: string) => TestClient<Handlers>;
}

/**
 * Returns a function that creates makers of test records. `rows` determines how the makers send their
 * statements.
 */
export function createMakers<Handlers>(
  read: World['rows'],
  clientOf: (secret: string) => TestClient<Handlers>,
): (rows: World['rows']) => Makers<Handlers> {
  const memberNamesById = new Map<string, MemberNames>();
  return (rows) => {
    const making: MakerContext<Handlers> = { rows, read, memberNamesById, clientOf };
    return {
      org: (setUp) => makeOrg(making, setUp),
      member: (...member) => makeMember(making, ...member),
      token: (...token) => makeToken(making, ...token),
      rows,
    };
  };
}

async function makeOrg<Handlers>(
  making: MakerContext<Handlers>,
  { policy = {}, plan = 'team' }: OrgSetUp = {},
): Promise<People<Handlers>> {
  const { rows } = making;
  const orgId = newId();
  const slug = `org-${orgId.slice(-12)}`;
  await rows(
    'insert into orgs (id, slug, name, policy) values ($1, $2, $3, $4)',
    orgId,
    slug,
    'Acme',
    policy,
  );
  await rows('insert into streams (org_id) values ($1)', orgId);
  await rows('insert into subscriptions (org_id, plan, seats) values ($1, $2, 25)', orgId, plan);
  const ana = await makeMember(making, orgId, 'Ana', 'owner');
  const ben = await makeMember(making, orgId, 'Ben', 'admin');
  const chloe = await makeMember(making, orgId, 'Chloé', 'member');
  const dan = await makeMember(making, orgId, 'Dan', 'viewer');
  const robo = await makeToken(making, orgId, chloe.me.memberId, { agent: 'Robo' });
  return { orgId, slug, ana, ben, chloe, dan, robo };
}

async function makeMember<Handlers>(
  making: MakerContext<Handlers>,
  orgId: string,
  name: string,
  role: OrgRole,
): Promise<Person<Handlers>> {
  const { rows, memberNamesById } = making;
  const id = newId();
  const handle = name
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();
  memberNamesById.set(id, { handle, name });
  await rows(
    'insert into members (org_id, id, email, name, handle, role) values ($1, $2, $3, $4, $5, $6)',
    orgId,
    id,
    `${handle}@example.com`,
    name,
    handle,
    role,
  );
  return makeToken(making, orgId, id);
}

/** Creates a token for the member, or for a new agent of theirs. */
async function makeToken<Handlers>(
  { rows, read, memberNamesById, clientOf }: MakerContext<Handlers>,
  orgId: string,
  memberId: string,
  setUp: TokenSetUp = {},
): Promise<Person<Handlers>> {
  const secret = newTokenSecret('test');
  const { handle, name } = memberNamesById.get(memberId) ?? (await readNames(read, orgId, memberId));
  let agentId: string | null = null;
  if (setUp.agent !== undefined) {
    agentId = newId();
    await rows(
      'insert into agents (org_id, id, member_id, name) values ($1, $2, $3, $4)',
      orgId,
      agentId,
      memberId,
      setUp.agent,
    );
  }
  await rows(
    `insert into tokens (org_id, id, member_id, agent_id, name, hash, last_four, scopes, project_ids,
         may_read_inbox, expires_at)
       values ($1, $2, $3, $4, 'spec', $5, $6, $7, $8, $9, now() + interval '1 day')`,
    orgId,
    newId(),
    memberId,
    agentId,
    hashToken(secret),
    secret.slice(-4),
    setUp.scopes ?? ['admin'],
    setUp.projectIds ?? null,
    setUp.mayReadInbox ?? false,
  );
  return Object.assign(clientOf(secret), {
    me: { memberId, agentId, handle, name: setUp.agent ?? name, token: secret },
  });
}

async function readNames(read: World['rows'], orgId: string, memberId: string): Promise<MemberNames> {
  const [member] = await read<MemberNames>(
    'select handle, name from members where org_id = $1 and id = $2',
    orgId,
    memberId,
  );
  if (member === undefined) throw new Error('no such member');
  return member;
}
