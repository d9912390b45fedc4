/** Locks: temporary claims on files or on other named resources. */
import { z } from 'zod';
import { Id, boundedText, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

/**
 * The resource of a lock: a path with everything below it, a glob over the paths of the repository, or a
 * name.
 */
export const LockResource = boundedText(512, 1).meta({
  description:
    'A repository path and everything below it, such as src/auth; a glob, such as **/*.sql; or a name, such as name:db-migrations',
});

export const maxLockResources = 50;

export const LockMode = z.enum(['exclusive', 'shared']);
export type LockMode = z.infer<typeof LockMode>;

export const Lock = z
  .object({
    id: Id,
    projectId: Id,
    resources: z.array(z.string()),
    mode: LockMode,
    holder: Actor,
    runId: z.string().nullable(),
    executionId: Id.nullable().describe(
      'The execution to which it belongs; the lock ends with it at the latest',
    ),
    storyId: Id.nullable(),
    reason: z.string().nullable(),
    fencingToken: z.int().describe('Higher than that of every earlier lock in the project'),
    acquiredAt: Time,
    expiresAt: Time.describe('The time at which the lock expires'),
  })
  .meta({ id: 'Lock' });
export type Lock = z.infer<typeof Lock>;

/**
 * The conflict that prevents a lock: the requested resource, the held resource, and a path that both cover.
 */
export const LockConflict = z
  .object({
    resource: z.string().describe('The requested resource, normalized'),
    heldResource: z.string().describe('The resource of the conflicting lock'),
    witness: z.string().describe('A path that matches both; for a name, the name'),
    lock: Lock,
  })
  .meta({ id: 'LockConflict' });
export type LockConflict = z.infer<typeof LockConflict>;
