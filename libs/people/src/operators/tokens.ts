import { type Db, newId, operatorTrail, type Pool, query, sqlQuery } from '@muster/database';
import {
  AgentName,
  EmailAddress,
  type Org,
  OrgSlug,
  ProjectKey,
  type Scope,
  TokenName,
} from '@muster/registry';
import { newTokenSecret } from '@muster/runtime';
import { z } from 'zod';
import { type NewToken, setNewToken } from '../data/tokens.ts';
import { getMemberByEmail, getOrgBySlug, noSuch, operate, parseInput } from './operate.ts';

/** An agent's token lives for 90 days at most; others for a year unless said, so that a forgotten one ends as well. */
const agentDays = 90;
const usualDays = 365;
const mostDays = 3650;

const Days = z.int().min(1).max(mostDays);

const TokenRequest = z
  .strictObject({
    org: OrgSlug,
    member: EmailAddress,
    name: TokenName,
    // `platform` is granted apart: it reaches beyond the organization.
    scopes: z
      .array(z.enum(['read', 'write', 'admin']))
      .min(1)
      .max(3),
    agent: AgentName.optional(),
    projects: z.array(ProjectKey).min(1).max(100).optional(),
    expiresInDays: Days.optional(),
  })
  .refine(({ agent, expiresInDays = 1 }) => agent === undefined || expiresInDays <= agentDays, {
    error: `an agent's token expires within ${agentDays} days`,
    path: ['expiresInDays'],
  });

const PlatformGrant = z.strictObject({ org: OrgSlug, member: EmailAddress, expiresInDays: Days.optional() });

/** A fresh token. The secret is nowhere else: shown once, and never again. */
export interface ShownToken {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: string;
}

/** Makes a token of a member, or of an agent of that member, which comes to be with its first token. */
export function createToken(pool: Pool, input: z.input<typeof TokenRequest>): Promise<ShownToken> {
  return operate(pool, async (db) => {
    const { org: slug, member: email, agent, projects, ...rest } = parseInput(TokenRequest, input);
    const org = await getOrgBySlug(db, slug);
    const member = await getMemberByEmail(db, org, email);
    const shown = await showNewToken(db, org, {
      ...rest,
      memberId: member.id,
      agentId: agent === undefined ? null : await setAgent(db, org, member.id, agent),
      projectIds: projects === undefined ? null : await getProjectIds(db, org, projects),
      expiresInDays: rest.expiresInDays ?? (agent === undefined ? usualDays : agentDays),
    });
    db.later(operatorTrail(org.id, 'operators.createToken', shown.id));
    return shown;
  });
}

/** Makes a member an operator of the installation, by a token of scope `platform` and no other. */
export function grantPlatform(pool: Pool, input: z.input<typeof PlatformGrant>): Promise<ShownToken> {
  return operate(pool, async (db) => {
    const { org: slug, member: email, expiresInDays = usualDays } = parseInput(PlatformGrant, input);
    const org = await getOrgBySlug(db, slug);
    const member = await getMemberByEmail(db, org, email);
    const shown = await showNewToken(db, org, {
      memberId: member.id,
      agentId: null,
      name: 'platform',
      scopes: ['platform'],
      projectIds: null,
      expiresInDays,
    });
    db.later(operatorTrail(org.id, 'operators.grantPlatform', shown.id));
    return shown;
  });
}

/** A token as it may be looked at: never the secret, nor its hash. */
export interface TokenLine {
  readonly id: string;
  readonly name: string;
  /** The member's e-mail. */
  readonly member: string;
  /** The agent's name. */
  readonly agent: string | null;
  readonly scopes: readonly Scope[];
  readonly lastFour: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** All tokens of an organization, newest first. */
export function listTokens(pool: Pool, input: { readonly org: string }): Promise<TokenLine[]> {
  return operate(pool, async (db) => {
    const org = await getOrgBySlug(db, input.org);
    const rows = await db.all(
      query
        .selectFrom('tokens as t')
        .innerJoin('members as m', (join) =>
          join.onRef('m.org_id', '=', 't.org_id').onRef('m.id', '=', 't.member_id'),
        )
        .leftJoin('agents as a', (join) =>
          join.onRef('a.org_id', '=', 't.org_id').onRef('a.id', '=', 't.agent_id'),
        )
        .select([
          't.id',
          't.name',
          'm.email as member',
          'a.name as agent',
          't.scopes',
          't.last_four as lastFour',
          't.created_at as createdAt',
          't.expires_at as expiresAt',
          't.last_used_at as lastUsedAt',
          't.revoked_at as revokedAt',
        ])
        .where('t.org_id', '=', org.id)
        .orderBy('t.id', 'desc'),
    );
    return rows;
  });
}

const Revocation = z.strictObject({ org: OrgSlug, tokenId: z.uuid() });

/** Ends a token; it is refused from the next request on. Ending it again changes nothing. */
export function revokeToken(
  pool: Pool,
  input: z.input<typeof Revocation>,
): Promise<{ id: string; revokedAt: string }> {
  return operate(pool, async (db) => {
    const { org: slug, tokenId } = parseInput(Revocation, input);
    const org = await getOrgBySlug(db, slug);
    const token = await db.find(
      query
        .selectFrom('tokens')
        .select(['id', 'revoked_at'])
        .where('org_id', '=', org.id)
        .where('id', '=', tokenId)
        .forNoKeyUpdate(),
    );
    if (token === undefined) throw noSuch(`token ${tokenId} in ${org.slug}`);
    if (token.revoked_at !== null) return { id: token.id, revokedAt: token.revoked_at };
    const { revokedAt } = await db.one(
      sqlQuery<{ revokedAt: string }>(
        'update tokens set revoked_at = now() where org_id = $1 and id = $2 returning revoked_at as "revokedAt"',
        [org.id, token.id],
      ),
    );
    db.later(operatorTrail(org.id, 'operators.revokeToken', token.id));
    return { id: token.id, revokedAt };
  });
}

/** A fresh token with its secret, which is shown and then forgotten. */
async function showNewToken(db: Db, org: Org, token: Omit<NewToken, 'secret'>): Promise<ShownToken> {
  const secret = newTokenSecret();
  const { id, expiresAt } = await setNewToken(db, org.id, { ...token, secret });
  return { token: secret, id, expiresAt };
}

/** The member's agent of that name, new or known. */
async function setAgent(db: Db, org: Org, memberId: string, name: string): Promise<string> {
  const agent = await db.one(
    query
      .insertInto('agents')
      .values({ org_id: org.id, id: newId(), member_id: memberId, name })
      .onConflict((conflict) => conflict.columns(['org_id', 'member_id', 'name']).doUpdateSet({ name }))
      .returning('id'),
  );
  return agent.id;
}

async function getProjectIds(db: Db, org: Org, keys: readonly string[]): Promise<string[]> {
  const rows = await db.all(
    sqlQuery<{ id: string; key: string }>(
      'select id, key from projects where org_id = $1 and key = any ($2)',
      [org.id, keys],
    ),
  );
  const unknown = keys.find((key) => !rows.some((row) => row.key === key));
  if (unknown !== undefined) throw noSuch(`project ${unknown} in ${org.slug}`);
  return rows.map((row) => row.id);
}
