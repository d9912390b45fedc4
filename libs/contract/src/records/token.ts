/** Tokens and agents, as their members see them. */
import { z } from 'zod';
import { scopes } from '../kernel/access.ts';
import { Id, Time } from '../kernel/values.ts';

/** The scopes that a member can give to a token. Only the operators' command line grants `platform`. */
export const GrantableScope = z.enum(['read', 'write', 'admin', 'scim']);
export type GrantableScope = z.infer<typeof GrantableScope>;

/**
 * The kinds of tokens. `api` is used by a program, `session` is a person's session in an organization, and
 * `oauth` was granted to a client.
 */
export const tokenKinds = ['api', 'session', 'oauth'] as const;

/** The days until a token expires: the default, the maximum, and the maximum for a token of an agent. */
export const tokenLifetimeDays = { usual: 90, most: 365, mostOfAgent: 90 } as const;

/** The maximum number of tokens of a member, including those of their agents. */
export const maxTokensPerMember = 100;
/** The maximum number of active agents of a member. */
export const maxAgentsPerMember = 50;

export const AccessToken = z
  .object({
    id: Id,
    name: z.string(),
    kind: z.enum(tokenKinds),
    scopes: z.array(z.enum(scopes)),
    projectIds: z
      .array(Id)
      .nullable()
      .describe(
        'The projects that the token is limited to; null means every project that its member may see',
      ),
    memberId: Id,
    agentId: Id.nullable(),
    parentId: Id.nullable().describe(
      'The token that created this one; revoking it revokes this one too. null if it was created in a session or by an operator, or before this field existed',
    ),
    mayReadInbox: z
      .boolean()
      .describe(
        "Whether the token may read its member's notifications; an agent's token may only if the member allowed this",
      ),
    prefix: z
      .string()
      .nullable()
      .describe('The first characters of the secret; null for tokens created before these were stored'),
    lastFour: z.string().describe('The last characters of the secret'),
    createdAt: Time,
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable().describe('Accurate to the minute'),
    revokedAt: Time.nullable(),
  })
  .meta({ id: 'AccessToken' });
export type AccessToken = z.infer<typeof AccessToken>;

export const AgentSlug = z
  .string()
  .regex(
    /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/,
    'must be 1 to 40 characters: a-z, 0-9 and -, and must not begin or end with -',
  )
  .meta({
    description: "The agent's name in commands, such as claude; the default is its name in lower case",
  });

/** A program that acts for a member. Every record of its actions names it separately from the member. */
export const Agent = z
  .object({
    id: Id,
    name: z.string(),
    slug: z.string().describe("Unique among the member's agents"),
    memberId: Id,
    createdAt: Time,
    retiredAt: Time.nullable().describe('When the agent was retired; a retired agent can no longer act'),
  })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof Agent>;
