import { expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { endAbandonedRunsEverywhere } from '../src/abandoned-runs.ts';

const world = useWorld({});
const { signal } = new AbortController();

it('a run that nobody heard of for a day ends, unless the work that it holds is held', async () => {
  const { orgId, chloe } = await world.org();
  const [projectId, executionId] = [newId(), newId()];
  const { memberId } = chloe.me;
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
    orgId,
    projectId,
  );
  await world.rows(
    `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, run_id)
     values ($1, $2, $3, 'story', $2, 'leased', 1, 'holds')`,
    orgId,
    executionId,
    projectId,
  );
  await world.rows(
    `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, run_id, ttl_seconds, expires_at)
     values ($1, 'story', $2, $3, 'held', 1, sha256('x'), '{}', $4, 'holds', 900, now())`,
    orgId,
    executionId,
    projectId,
    memberId,
  );
  for (const [runId, age, execution] of [
    ['silent', '25 hours', null],
    ['lost its work', '25 hours', executionId],
    ['holds', '25 hours', executionId],
    ['heard of', '23 hours', null],
  ]) {
    await world.rows(
      `insert into agent_runs (org_id, id, project_id, run_id, member_id, state, last_event, last_seen_at, execution_id)
       values ($1, $2, $3, $4, $5, 'running', '{}', now() - $6::interval, $7)`,
      orgId,
      newId(),
      projectId,
      runId,
      memberId,
      age,
      execution,
    );
  }
  expect(await endAbandonedRunsEverywhere(world.database.app, signal)).toBe(2);
  const open = await world.rows<{ run_id: string }>(
    `select run_id from agent_runs where org_id = $1 and ended_at is null order by run_id`,
    orgId,
  );
  expect(open.map(({ run_id: id }) => id)).toEqual(['heard of', 'holds']);
  expect(await endAbandonedRunsEverywhere(world.database.app, signal)).toBe(0);
});
