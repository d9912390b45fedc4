import { z } from 'zod';
import {
  project,
  operation,
  pageParams,
  pageSchemaOf,
  OmittedCounts,
  Deleted,
  Id,
  ProjectRef,
  StoryRef,
  Note,
  RunId,
  TtlSeconds,
  Lock,
  LockConflict,
  LockMode,
  LockResource,
  maxLockResources,
} from '@muster/contract';

export const locks = {
  acquire: operation({
    name: 'locks.acquire',
    effect: 'write',
    idempotent: true,
    summary: 'Lock paths or names of a project',
    keywords:
      'reserve file files folder directory claim path protect exclusive prevent others editing check collide clash conflict dry run',
    description:
      "All or none are locked. Two locks conflict if at least one is exclusive and some path matches both, which is decided exactly; details.conflicts then lists the conflicts, each with an example path (witness). Locks of the same holder (member, agent and runId) never conflict. If the same holder requests the same resources again, in any order, the existing lock is extended: never shortened, with the same fencingToken, and with the mode, reason, story and execution of the new call. With an executionId, whose lease the caller must hold, the lock lives as long as that lease: operations of the holder renew it, even beyond the policy's maximum, and it ends with the work. dryRun only reports conflicts.",
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      resources: z.array(LockResource).min(1).max(maxLockResources),
      mode: LockMode.default('exclusive'),
      ttlSeconds: TtlSeconds.default(600),
      reason: Note.optional(),
      storyId: StoryRef.optional(),
      executionId: Id.optional(),
      runId: RunId.optional(),
      dryRun: z.boolean().default(false),
    }),
    result: z.object({
      lock: Lock.nullable().describe('null for a dryRun'),
      extended: z.boolean(),
      conflicts: z
        .array(LockConflict)
        .describe('The conflicts found by a dryRun; empty if a lock was granted'),
      leftOut: OmittedCounts.nullable().describe(
        'For a dryRun with more conflicts than fit into the response',
      ),
    }),
    refusals: ['lock_held', 'stale_lease', 'mismatched_project', 'limit_exceeded', 'archived'],
    emits: ['lock.acquired'],
    example: { projectId: 'WEB', resources: ['src/auth/**', 'name:db-migrations'], reason: 'Passkeys' },
  }),
  list: operation({
    name: 'locks.list',
    effect: 'read',
    summary: 'List the locks of a project',
    keywords: 'who locked has file files reserved held locked working editing collide clash conflict',
    description:
      "Only live locks, oldest first. With resource, only locks that share a path with it; with mine, only the caller's locks, from all runs.",
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      resource: LockResource.optional(),
      mine: z.boolean().default(false),
      ...pageParams,
    }),
    result: pageSchemaOf(Lock),
    example: { projectId: 'WEB', resource: '**/*.ts' },
  }),
  release: operation({
    name: 'locks.release',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Release a lock',
    keywords: 'unlock free file files',
    description:
      'Only its holder (in any run) or a lead of the project may do this; if a lead does, the holder is notified. An expired lock is treated as missing.',
    access: project('viewer', 'holder', 'projectLead'),
    params: z.strictObject({ lockId: Id }),
    result: Deleted,
    reachesArchived: true,
    emits: ['lock.released'],
    example: { lockId: '01936d5c-0000-7000-8000-000000000095' },
  }),
};
