import { type Pool, sql } from '@muster/driver';
import { allNodes } from '@muster/placement';
import { operatorTrailStatement } from '@muster/tenancy';
import { z } from 'zod';
import { missingRecordError, runAsOperator, parseInput } from './operate.ts';

/** A job that the worker gave up. Its row stays in the outbox until an operator replays it. */
export interface DeadJob {
  readonly id: string;
  /** The slug of the organization. */
  readonly org: string;
  readonly topic: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly deadAt: string;
  /** The error of the last attempt. */
  readonly error: string | null;
}

const maxListedJobs = 1_000;

/** Lists the dead jobs of all servers, the latest first. */
export async function listDeadJobs(pool: Pool): Promise<DeadJob[]> {
  const all: DeadJob[] = [];
  for (const at of allNodes(pool))
    all.push(
      ...(await runAsOperator(at.pool, (db) =>
        db.all(
          sql<DeadJob>`select r.id, o.slug as org, r.topic, r.attempts, r.created_at as "createdAt", r.dead_at as "deadAt", r.error
             from outbox r join orgs o on o.id = r.org_id
             where r.dead_at is not null and r.done_at is null
             order by r.dead_at desc, r.id limit ${maxListedJobs}`,
        ),
      )),
    );
  return all.sort((a, b) => (a.deadAt > b.deadAt ? -1 : 1)).slice(0, maxListedJobs);
}

const ReplayJobsInput = z.union([
  z.strictObject({ ids: z.array(z.uuid()).min(1).max(maxListedJobs) }),
  z.strictObject({ all: z.literal(true) }),
]);

/**
 * Schedules dead jobs again with a fresh count of attempts, and returns their ids. If one of the given ids
 * does not exist, none is replayed.
 */
export async function replayJobs(pool: Pool, input: z.input<typeof ReplayJobsInput>): Promise<string[]> {
  const given = parseInput(ReplayJobsInput, input);
  const ids = 'ids' in given ? given.ids : null;
  const servers = allNodes(pool);
  if (servers.length > 1 && ids !== null) {
    const there = new Set((await listDeadJobs(pool)).map(({ id }) => id));
    const unknown = ids.find((id) => !there.has(id));
    if (unknown !== undefined) throw missingRecordError(`dead job ${unknown}`);
  }
  const replayed: string[] = [];
  for (const at of servers) replayed.push(...(await replayJobsOnNode(at.pool, ids, servers.length === 1)));
  return replayed;
}

function replayJobsOnNode(pool: Pool, ids: readonly string[] | null, isOnlyNode: boolean): Promise<string[]> {
  return runAsOperator(pool, async (db, within) => {
    const dead = await db.all(
      sql<{
        orgId: string;
        ids: string[];
      }>`select org_id as "orgId", array_agg(id order by id) as ids from outbox
         where dead_at is not null and done_at is null and (${ids}::uuid[] is null or id = any (${ids}))
         group by org_id order by org_id`,
    );
    const replayed: { readonly id: string; readonly orgId: string }[] = [];
    // Each organization has a statement of its own, because organizations may be on different servers.
    for (const { orgId, ids: here } of dead)
      replayed.push(
        ...(await db.all(
          sql<{
            id: string;
            orgId: string;
          }>`update outbox set dead_at = null, attempts = 0, error = null, dispatch_after = now()
             where org_id = ${orgId}::uuid and dead_at is not null and done_at is null and id = any (${here}::uuid[])
             returning id, org_id as "orgId"`,
        )),
      );
    const unknown = isOnlyNode && ids?.find((id) => !replayed.some((row) => row.id === id));
    if (typeof unknown === 'string') throw missingRecordError(`dead job ${unknown}`);
    // The audit entries are written in the order of organizations, because each one locks the organization's
    // stream until COMMIT.
    for (const row of replayed.toSorted((a, b) => a.orgId.localeCompare(b.orgId)))
      within(row.orgId).deferToCommit(operatorTrailStatement('operators.replayJob', row.id));
    return replayed.map((row) => row.id);
  });
}
