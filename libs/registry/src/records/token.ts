/** Tokens and agents, as their members see them. */
import { z } from 'zod';
import { scopes } from '../kernel/access.ts';
import { Id, Time } from '../kernel/values.ts';

/** The scopes that a member can give to a token. Only the operators' command line grants `platform`. */
export const GivenScope = z.enum(['read', 'write', 'admin']);
export type GivenScope = z.infer<typeof GivenScope>;

/**
 * The kinds of tokens. `api` is used by a program, `session` is a person's session in an organization, and
 * `oauth` was granted to a client.
 */
export const tokenKinds = ['api', 'session', 'oauth'] as const;

/** The days until a token expires: the default, the maximum, and the maximum for a token of an agent. */
export const tokenDays = { usual: 90, most: 365, mostOfAgent: 90 } as const;

/** The maximum number of tokens of a member, including those of their agents. */
export const mostTokens = 100;
/** The maximum number of active agents of a member. */
export const mostAgents = 50;

export const AccessToken = z
  .object({
    id: Id,
    name: z.string(),
    kind: z.enum(tokenKinds),
    scopes: z.array(z.enum(scopes)),
    projectIds: z
      .array(Id)
      .nullable()
      .describe('The projects it is bound to; null: every project that its member may see'),
    memberId: Id,
    agentId: Id.nullable(),
    parentId: Id.nullable().describe(
      'The token that made it and ends it; null if a person made it in a session, an operator made it, or it is older than this field',
    ),
    mayReadInbox: z
      .boolean()
      .describe("Whether it may read its member's notifications; an agent's only where the member let it"),
    prefix: z
      .string()
      .nullable()
      .describe('How the secret begins; null for a token that was made before this was kept'),
    lastFour: z.string().describe('How the secret ends'),
    createdAt: Time,
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable().describe('To the minute'),
    revokedAt: Time.nullable(),
  })
  .meta({ id: 'AccessToken' });
export type AccessToken = z.infer<typeof AccessToken>;

export const AgentSlug = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/, 'must be 1 to 40 of a-z, 0-9 and -, with - only inside')
  .meta({ description: 'How commands name the agent, such as claude; absent: its name in small letters' });

/** A program that acts for a member. Every record of its actions names it separately from the member. */
export const Agent = z
  .object({
    id: Id,
    name: z.string(),
    slug: z.string().describe("Unique among the member's agents"),
    memberId: Id,
    createdAt: Time,
    retiredAt: Time.nullable().describe('Since when it acts no more'),
  })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof Agent>;
