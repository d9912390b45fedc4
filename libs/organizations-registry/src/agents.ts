import { z } from 'zod';
import {
  org,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  MemberParam,
  AgentName,
  Agent,
  AgentSlug,
} from '@muster/contract';

/** The part of the namespace `agents` that manages agents. */
export const agents = {
  create: operation({
    name: 'agents.create',
    effect: 'write',
    summary: 'Create an agent, for which you can then create tokens',
    keywords: 'new bot assistant identity register',
    description:
      'The agent acts for you, with at most your role, and everything it does appears under its own name. Its name and slug must differ from those of all your agents, retired ones included. A member can have at most 50 agents that are not retired.',
    access: org('member'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({ name: AgentName, slug: AgentSlug.optional() }),
    result: z.object({ agent: Agent }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['agent.created'],
    example: { name: 'Claude' },
  }),
  list: operation({
    name: 'agents.list',
    effect: 'read',
    summary: 'List your agents',
    keywords: 'bots assistants mine',
    description:
      'Newest first. You see your own agents; admins with the scope admin see all agents of the organization. Retired agents only with includeRetired.',
    access: org('member'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    params: z.strictObject({
      memberId: MemberParam.optional(),
      includeRetired: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(Agent),
    example: {},
  }),
  retire: operation({
    name: 'agents.retire',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Retire an agent for good',
    keywords: 'delete remove disable stop bot',
    description:
      'You can retire your own agents; admins with the scope admin can retire any agent of the organization. Takes effect immediately: its tokens are revoked, its leases and locks are released, its runs end, and its offers, assignments and review requests are withdrawn. Its past work stays under its name. Retiring it again has no effect.',
    access: org('member'),
    byMemberOnly: true,
    surfaces: surfacesWithoutTool,
    auditsRefusal: true,
    params: z.strictObject({ agentId: AgentParam }),
    result: z.object({ agent: Agent }),
    emits: ['agent.retired'],
    example: { agentId: '01936d5c-0000-7000-8000-0000000000b1' },
  }),
};
