/** Locks: temporary claims on files or on other named resources. */
import { z } from 'zod';
import { Id, text, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

/**
 * The resource of a lock: a path with everything below it, a glob over the paths of the repository, or a
 * name.
 */
export const LockResource = text(512, 1).meta({
  description:
    'A repository path with everything below it, such as src/auth, a glob, such as **/*.sql, or a name, such as name:db-migrations',
});

export const mostLockResources = 50;

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
    executionId: Id.nullable().describe('The work it goes with: it ends with it at the latest'),
    storyId: Id.nullable(),
    reason: z.string().nullable(),
    fencingToken: z.int().describe('Higher than that of every lock granted in the project before'),
    acquiredAt: Time,
    expiresAt: Time.describe('From then on there is no such lock'),
  })
  .meta({ id: 'Lock' });
export type Lock = z.infer<typeof Lock>;

/**
 * The conflict that prevents a lock: the requested resource, the held resource, and a path that both cover.
 */
export const LockConflict = z
  .object({
    resource: z.string().describe('As asked for, normalized'),
    heldResource: z.string().describe('Of the lock that is in the way'),
    witness: z.string().describe('A path that matches both; of a name, the name'),
    lock: Lock,
  })
  .meta({ id: 'LockConflict' });
export type LockConflict = z.infer<typeof LockConflict>;
