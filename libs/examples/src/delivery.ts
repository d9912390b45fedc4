/**
 * Writes the delivery of the examples. Ana works on WEB-2 under a lease that she acquired first, and may hand
 * it over to Otto. She also coordinates its group under another lease.
 */
import { type People, type Makers } from '@muster/testing/world';
import { createHash } from 'node:crypto';

const exampleIds = {
  execution: '01936d5c-0000-7000-8000-000000000090',
  successor: '01936d5c-0000-7000-8000-000000000091',
  group: '01936d5c-0000-7000-8000-000000000092',
  run: '01936d5c-0000-7000-8000-000000000093',
} as const;
const leaseToken = 'lse_1_00000000000000000000000000000000';

interface DeliverySetUp {
  readonly orgId: string;
  readonly ana: People['ana'];
  readonly projectId: string;
  readonly storyId: string;
  readonly idOf: (exampleId: string) => string;
}

export async function arrangeDelivery(
  { rows }: Makers,
  { orgId, ana, projectId, storyId, idOf }: DeliverySetUp,
): Promise<{ execution: string; group: string }> {
  const execution = idOf(exampleIds.execution);
  const successor = idOf(exampleIds.successor);
  const holder = { kind: 'member', memberId: ana.me.memberId, agentId: null, name: ana.me.name };
  const checkpoint = {
    seq: 1,
    summary: 'The form is there',
    nextSteps: [],
    filesTouched: [],
    headSha: null,
    pushed: false,
    data: null,
    at: '2026-11-21T09:30:00.000Z',
  };
  await rows(
    `insert into members (org_id, id, email, name, handle, role) values ($1, $2, 'otto@example.com', 'Otto', 'otto', 'member')`,
    orgId,
    successor,
  );
  await rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'contributor')`,
    orgId,
    projectId,
    successor,
  );
  const group = idOf(exampleIds.group);
  await rows(
    `insert into delivery_groups (org_id, id, project_id, name, state, merge_strategy)
     values ($1, $2, $3, 'Sign-in', 'active', 'per_story')`,
    orgId,
    group,
    projectId,
  );
  await rows(
    `insert into delivery_group_stories (org_id, project_id, group_id, story_id, position) values ($1, $2, $3, $4, 1)`,
    orgId,
    projectId,
    group,
    storyId,
  );
  for (const [unitType, unitId] of [
    ['story', storyId],
    ['coordination', group],
  ]) {
    await rows(
      `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id,
         ttl_seconds, granted_at, expires_at)
       values ($1, $2, $3, $4, 'held', 1, $5, $6, $7, 900, now(), now() + interval '15 minutes')`,
      orgId,
      unitType,
      unitId,
      projectId,
      createHash('sha256').update(leaseToken).digest(),
      holder,
      ana.me.memberId,
    );
  }
  await rows(
    `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, checkpoint, checkpoint_seq,
       last_event_seq, told_seq)
     values ($1, $2, $3, 'story', $4, 'leased', 1, $5, 1, 1, 1)`,
    orgId,
    execution,
    projectId,
    storyId,
    checkpoint,
  );
  await rows(
    `insert into execution_events (org_id, execution_id, seq, kind, actor) values ($1, $2, 1, 'acquired', $3)`,
    orgId,
    execution,
    holder,
  );
  await arrangeChanges(rows, { orgId, projectId, execution });
  await arrangeRun(rows, { orgId, ana, projectId, storyId, idOf, execution });
  return { execution, group };
}

/** Writes the changed files of the work, as a runner uploads them. */
async function arrangeChanges(
  rows: Makers['rows'],
  { orgId, projectId, execution }: { orgId: string; projectId: string; execution: string },
): Promise<void> {
  const [headSha, baseSha] = ['3f2c8a', '9b1d04'].map((text) => text.repeat(7).slice(0, 40));
  await rows(
    `with c as (insert into code_changes (org_id, id, project_id, execution_id, source, head_sha, base_sha, state,
         file_count, additions, deletions, stored_at)
       values ($1, gen_random_uuid(), $2, $3, 'runner', $4, $5, 'ready', 1, 2, 1, '2026-11-21T09:30:00.000Z')
       returning org_id, id)
     insert into code_change_files (org_id, changes_id, seq, path, status, additions, deletions, is_binary, is_truncated, patch)
     select org_id, id, 1, 'src/sign-in.ts', 'modified', 2, 1, false, false, $6 from c`,
    ...[orgId, projectId, execution, headSha, baseSha],
    '@@ -1 +1,2 @@\n-export {};\n+export const signIn = () => undefined;\n+export const signOut = () => undefined;',
  );
}

/** Writes the run of Ana's work, with one line of its log. */
async function arrangeRun(
  rows: Makers['rows'],
  { orgId, ana, projectId, storyId, idOf, execution }: DeliverySetUp & { readonly execution: string },
): Promise<void> {
  const run = idOf(exampleIds.run);
  await rows(
    `insert into agent_runs (org_id, id, project_id, run_id, member_id, story_id, execution_id, state, started_at, last_event, log_lines)
     values ($1, $2, $3, 'run-2', $4, $5, $6, 'running',
       (select min(at) from execution_events where org_id = $1 and execution_id = $6),
       '{"kind": "progress", "message": "Writes the tests", "data": null, "at": "2026-11-21T09:30:00.000Z"}', 1)`,
    ...[orgId, run, projectId, ana.me.memberId, storyId, execution],
  );
  await rows(
    `insert into run_logs (org_id, run_id, first_line, last_line, lines, at)
     values ($1, $2, 1, 1, '[{"stream": "stdout", "message": "12 tests passed"}]', '2026-11-21T09:30:00.000Z')`,
    orgId,
    run,
  );
}
