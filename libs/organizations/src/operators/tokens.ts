import { type Selectable } from 'kysely';
import { type Db, type DB, newId, orgFilter, currentOrgId, type Pool, sql } from '@muster/driver';
import { allNodes, hasOtherNodes } from '@muster/placement';
import {
  AgentName,
  EmailAddress,
  type Org,
  OrgSlug,
  ProjectKey,
  refusal,
  type Scope,
  TokenName,
} from '@muster/contract';
import { hashToken, newTokenSecret } from '@muster/runtime';
import { operatorTrailStatement } from '@muster/tenancy';
import { z } from 'zod';
import { type NewToken, insertToken } from '../data/tokens.ts';
import {
  getMemberByEmail,
  getOrgBySlug,
  missingRecordError,
  runAsOperator,
  runAsOperatorForOrganization,
  parseInput,
} from './operate.ts';

/**
 * The lifetimes of tokens in days. An agent's token lives for at most 90 days, and others for a year by
 * default, so that a forgotten token expires too.
 */
const maxAgentTokenDays = 90;
const defaultTokenDays = 365;
const maxTokenDays = 3650;

const TokenLifetimeDays = z.int().min(1).max(maxTokenDays);

const TokenRequest = z
  .strictObject({
    org: OrgSlug,
    member: EmailAddress,
    name: TokenName,
    // `platform` has a command of its own, because it reaches beyond the organization.
    scopes: z
      .array(z.enum(['read', 'write', 'admin']))
      .min(1)
      .max(3),
    agent: AgentName.optional(),
    projects: z.array(ProjectKey).min(1).max(100).optional(),
    // True if the token of an agent may read the inbox of the agent's member. The operator decides this. The
    // field must be false for other tokens.
    inbox: z.boolean().default(false),
    expiresInDays: TokenLifetimeDays.optional(),
  })
  .refine(({ agent, inbox }) => agent !== undefined || !inbox, {
    error: "a member's own token can always read the inbox; use this only for an agent's token",
    path: ['inbox'],
  })
  .refine(({ agent, expiresInDays = 1 }) => agent === undefined || expiresInDays <= maxAgentTokenDays, {
    error: `an agent's token expires within ${maxAgentTokenDays} days`,
    path: ['expiresInDays'],
  });

const PlatformGrant = z.strictObject({
  org: OrgSlug,
  member: EmailAddress,
  expiresInDays: TokenLifetimeDays.optional(),
});

/** A new token. The secret is shown once and not stored. */
export interface TokenWithSecret {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: string;
  /**
   * The servers that did not answer, so that they will not accept an operator's token yet; absent if all
   * answered.
   */
  readonly without?: readonly string[];
}

/** Creates a token of a member or of the member's agent. The agent is created with its first token. */
export function createToken(pool: Pool, input: z.input<typeof TokenRequest>): Promise<TokenWithSecret> {
  return runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const { org: slug, member: email, agent, projects, inbox, ...rest } = parseInput(TokenRequest, input);
    const org = await getOrgBySlug(db, slug);
    const own = within(org.id);
    const member = await getMemberByEmail(own, org, email);
    const shown = await createTokenWithSecret(own, {
      ...rest,
      memberId: member.id,
      agentId: agent === undefined ? null : await findOrCreateAgentId(own, member.id, agent),
      projectIds: projects === undefined ? null : await requireProjectIds(own, org, projects),
      mayReadInbox: inbox,
      expiresInDays: rest.expiresInDays ?? (agent === undefined ? defaultTokenDays : maxAgentTokenDays),
    });
    own.deferToCommit(operatorTrailStatement('operators.createToken', shown.id));
    return shown;
  });
}

/**
 * Makes a member an operator of the installation, with a token of the scope `platform` only. The token is
 * registered on every server that answers. The others receive it from registerPlatformTokensOnAllNodes.
 */
export async function grantPlatformAccess(
  pool: Pool,
  input: z.input<typeof PlatformGrant>,
): Promise<TokenWithSecret> {
  const shown = await runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const { org: slug, member: email, expiresInDays = defaultTokenDays } = parseInput(PlatformGrant, input);
    const org = await getOrgBySlug(db, slug);
    const own = within(org.id);
    const member = await getMemberByEmail(own, org, email);
    const shown = await createTokenWithSecret(own, {
      memberId: member.id,
      agentId: null,
      name: 'platform',
      scopes: ['platform'],
      projectIds: null,
      expiresInDays,
    });
    own.deferToCommit(operatorTrailStatement('operators.grantPlatform', shown.id));
    return shown;
  });
  if (!hasOtherNodes(pool)) return shown;
  const { id, token, expiresAt } = shown;
  const pass = { hash: hashToken(token).toString('hex'), id, expiresAt };
  const without: string[] = [];
  for (const at of allNodes(pool))
    await addPlatformPasses(at.pool, [pass]).catch(() => without.push(at.name));
  return { ...shown, ...(without.length > 0 && { without }) };
}

interface PlatformPass {
  /** The hash of the token in hexadecimal. */
  readonly hash: string;
  readonly id: string;
  readonly expiresAt: string;
}

const addPlatformPasses = (pool: Pool, passes: readonly PlatformPass[]): Promise<void> =>
  runAsOperator(pool, async (db) => {
    db.deferToCommit(sql`delete from app.platform_passes where expires_at < now()`);
    db.deferToCommit(
      sql`insert into app.platform_passes (hash, token_id, expires_at)
          select decode(hash, 'hex'), id, expires_at
          from unnest(${passes.map(({ hash }) => hash)}::text[], ${passes.map((pass) => pass.id)}::uuid[],
            ${passes.map(({ expiresAt }) => expiresAt)}::timestamptz[]) pass (hash, id, expires_at)
          on conflict (hash) do nothing`,
    );
  });

/**
 * Registers the operators' tokens of all servers on every server. This adds the tokens to servers that were
 * new or unavailable when a token was created.
 */
export async function registerPlatformTokensOnAllNodes(pool: Pool): Promise<void> {
  if (!hasOtherNodes(pool)) return;
  const all = allNodes(pool);
  const passes: PlatformPass[] = [];
  for (const at of all) {
    const good = await runAsOperator(at.pool, (db) =>
      db.all(
        sql<PlatformPass>`select encode(hash, 'hex') as hash, id, expires_at as "expiresAt" from tokens
          where 'platform' = any (scopes) and revoked_at is null and expires_at > now()`,
      ),
    );
    passes.push(...good);
  }
  for (const at of all) await addPlatformPasses(at.pool, passes);
}

/** A token without its secret and hash. */
export interface TokenSummary {
  readonly id: string;
  readonly name: string;
  /** The member's e-mail address. */
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

/** Lists all tokens of an organization, newest first. */
export function listTokens(pool: Pool, input: { readonly org: string }): Promise<TokenSummary[]> {
  return runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const org = await getOrgBySlug(db, input.org);
    const rows = await within(org.id).all(
      sql<TokenSummary>`select t.id, t.name, m.email as member, a.name as agent, t.scopes, t.last_four as "lastFour",
           t.created_at as "createdAt", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt",
           t.revoked_at as "revokedAt"
         from tokens t join members m on m.org_id = t.org_id and m.id = t.member_id
         left join agents a on a.org_id = t.org_id and a.id = t.agent_id
         where ${orgFilter('t')} order by t.id desc`,
    );
    return rows;
  });
}

const RevokeTokenInput = z.strictObject({ org: OrgSlug, tokenId: z.uuid() });

/**
 * Revokes a token, which is refused from the next request on. A repetition only informs servers that did not
 * answer before.
 */
export async function revokeToken(
  pool: Pool,
  input: z.input<typeof RevokeTokenInput>,
): Promise<{ id: string; revokedAt: string }> {
  const revoked = await revokeTokenOnNodeOfOrg(pool, input);
  // The token's own server already refuses the token. The other servers are asked only afterwards, so an
  // unavailable server delays nothing.
  if (!hasOtherNodes(pool)) return revoked;
  for (const at of allNodes(pool))
    await runAsOperator(at.pool, async (db) => {
      db.deferToCommit(sql`delete from app.platform_passes where token_id = ${revoked.id}::uuid`);
    }).catch(() => undefined);
  return revoked;
}

function revokeTokenOnNodeOfOrg(
  pool: Pool,
  input: z.input<typeof RevokeTokenInput>,
): Promise<{ id: string; revokedAt: string }> {
  return runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const { org: slug, tokenId } = parseInput(RevokeTokenInput, input);
    const org = await getOrgBySlug(db, slug);
    const own = within(org.id);
    const token = await own.find(
      sql<
        Pick<Selectable<DB['tokens']>, 'id' | 'revoked_at'>
      >`select id, revoked_at from tokens where ${orgFilter()} and id = ${tokenId} for no key update`,
    );
    if (token === undefined) throw missingRecordError(`token ${tokenId} in ${org.slug}`);
    if (token.revoked_at !== null) return { id: token.id, revokedAt: token.revoked_at };
    const { revokedAt } = await own.one(
      sql<{
        revokedAt: string;
      }>`update tokens set revoked_at = now() where ${orgFilter()} and id = ${token.id} returning revoked_at as "revokedAt"`,
    );
    own.deferToCommit(operatorTrailStatement('operators.revokeToken', token.id));
    return { id: token.id, revokedAt };
  });
}

/** Creates a token and returns it with its secret, which is not stored. */
async function createTokenWithSecret(db: Db, token: Omit<NewToken, 'secret'>): Promise<TokenWithSecret> {
  const secret = newTokenSecret();
  const { id, expires_at: expiresAt } = await insertToken(db, { ...token, secret });
  return { token: secret, id, expiresAt };
}

/** Finds or creates the member's agent with this name. Throws if the agent was retired. */
async function findOrCreateAgentId(db: Db, memberId: string, name: string): Promise<string> {
  const agent = await db.one(
    sql<
      Pick<Selectable<DB['agents']>, 'id' | 'retired_at'>
    >`insert into agents (org_id, id, member_id, name) values (${currentOrgId}, ${newId()}, ${memberId}, ${name}) on conflict (org_id, member_id, name) do update set name = excluded.name returning id, retired_at`,
  );
  if (agent.retired_at !== null) throw refusal('agent_retired', { retiredAt: agent.retired_at });
  return agent.id;
}

async function requireProjectIds(db: Db, org: Org, keys: readonly string[]): Promise<string[]> {
  const rows = await db.all(
    sql<{
      id: string;
      key: string;
    }>`select id, key from projects where ${orgFilter()} and key = any (${keys})`,
  );
  const unknown = keys.find((key) => !rows.some((row) => row.key === key));
  if (unknown !== undefined) throw missingRecordError(`project ${unknown} in ${org.slug}`);
  return rows.map((row) => row.id);
}
