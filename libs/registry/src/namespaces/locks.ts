import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { LeftOut } from '../kernel/short-lists.ts';
import { Deleted, Id, ProjectRef, StoryRef } from '../kernel/values.ts';
import { Note, RunId, TtlSeconds } from '../records/execution.ts';
import { Lock, LockConflict, LockMode, LockResource, mostLockResources } from '../records/lock.ts';

export const locks = {
  acquire: operation({
    name: 'locks.acquire',
    effect: 'write',
    idempotent: true,
    summary: 'Lock paths or names of a project',
    keywords:
      'reserve file files folder directory claim path protect exclusive prevent others editing check collide clash conflict dry run',
    description: `All of them or none. Two locks clash when at least one is exclusive and some path matches both, decided exactly; then details.conflicts says what is in the way, with a witness. One holder's own locks never clash; a holder is a member, agent and runId. The same holder asking for the same resources, in any order, extends the lock that it has: never shorter, under the same fencingToken, and in the mode and with the reason, story and execution that are given now. With an executionId, which the caller must hold the lease of, the lock ends with that work at the latest, and never before its lease: each operation of the holder renews it, beyond the policy's maximum too. dryRun only answers.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      resources: z.array(LockResource).min(1).max(mostLockResources),
      mode: LockMode.default('exclusive'),
      ttlSeconds: TtlSeconds.default(600),
      reason: Note.optional(),
      storyId: StoryRef.optional(),
      executionId: Id.optional(),
      runId: RunId.optional(),
      dryRun: z.boolean().default(false),
    }),
    result: z.object({
      lock: Lock.nullable().describe('Null for a dryRun'),
      extended: z.boolean(),
      conflicts: z.array(LockConflict).describe('Of a dryRun; none where a lock was granted'),
      leftOut: LeftOut.nullable().describe('Of a dryRun whose conflicts would be too long an answer'),
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
    description: `Live ones only, oldest first. With resource, only those that some path is in common with; with mine, only the caller's, of whatever run.`,
    access: project('viewer'),
    params: z.strictObject({
      projectId: ProjectRef,
      resource: LockResource.optional(),
      mine: z.boolean().default(false),
      ...page,
    }),
    result: pageOf(Lock),
    example: { projectId: 'WEB', resource: '**/*.ts' },
  }),
  release: operation({
    name: 'locks.release',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Let go of a lock, or free it',
    keywords: 'unlock free file files',
    description: `By its holder, whatever the run, or by a lead of the project; then the holder is told. A lock past its time is none.`,
    access: project('viewer', 'holder', 'projectLead'),
    params: z.strictObject({ lockId: Id }),
    result: Deleted,
    reachesArchived: true,
    emits: ['lock.released'],
    example: { lockId: '01936d5c-0000-7000-8000-000000000095' },
  }),
};
