import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Actor, MemberRef } from './member.ts';
import { TargetType } from './target.ts';

/** An agent as a reference inside another record. */
export const AgentRef = z.object({ id: Id, name: z.string() });
export type AgentRef = z.infer<typeof AgentRef>;

/** The assignment of a person and an agent to a record, side by side. */
export const Assignment = z
  .object({
    targetType: TargetType,
    targetId: Id,
    targetKey: z.string().nullable().describe("A story's key, such as WEB-42"),
    targetTitle: z.string(),
    projectId: Id,
    member: MemberRef.nullable(),
    agent: AgentRef.nullable(),
    assignedBy: Actor.nullable().describe('Who changed it last; null if no one is assigned'),
    createdAt: Time.nullable(),
    updatedAt: Time.nullable(),
  })
  .meta({ id: 'Assignment' });
export type Assignment = z.infer<typeof Assignment>;
