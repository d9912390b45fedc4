/**
 * Writes the locks of the examples. Ana has an exclusive lock on the documents; the paths that the examples
 * request are free.
 */
import { type Makers, type People } from '@muster/testing/world';

const exampleLockId = '01936d5c-0000-7000-8000-000000000095';

interface LocksSetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  readonly projectId: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangeLocks(
  { rows }: Makers,
  { orgId, ana, projectId, idOf }: LocksSetUp,
): Promise<{ lock: string }> {
  const lock = idOf(exampleLockId);
  await rows(
    'insert into lock_counters (org_id, project_id, fencing_token) values ($1, $2, 1)',
    orgId,
    projectId,
  );
  await rows(
    `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, fencing_token, expires_at)
     values ($1, $2, $3, '{docs/**/*.ts}', 'exclusive', $4, $5, 1, now() + interval '1 hour')`,
    orgId,
    lock,
    projectId,
    { kind: 'member', memberId: ana.me.memberId, agentId: null, name: ana.me.name },
    ana.me.memberId,
  );
  return { lock };
}
