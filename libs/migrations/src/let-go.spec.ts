/**
 * Tests rows that stay when the row they refer to is deleted. Triggers clear the reference
 * (functions/let-go.sql), since no foreign key sets columns to null.
 */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';

const world = useWorld({});

const ids = { project: '', column: '', epic: '', story: '', execution: '', contract: '', lock: '', run: '' };
let orgId: string;
let memberId: string;

beforeEach(async () => {
  const { orgId: madeOrg, ana } = await world.org();
  orgId = madeOrg;
  memberId = ana.me.memberId;
  for (const name of Object.keys(ids) as (keyof typeof ids)[]) ids[name] = randomUUID();
  await world.database.owner.query(`
    insert into projects (org_id, id, key, name, visibility, origin)
      values ('${orgId}', '${ids.project}', 'P' || upper(substr(md5('${ids.project}'), 1, 6)), 'P', 'org', 'hosted');
    insert into project_counters (org_id, project_id) values ('${orgId}', '${ids.project}');
    insert into board_columns (org_id, id, project_id, name, status, position)
      values ('${orgId}', '${ids.column}', '${ids.project}', 'Backlog', 'backlog', 0);
    insert into epics (org_id, id, project_id, title) values ('${orgId}', '${ids.epic}', '${ids.project}', 'E');
    insert into stories (org_id, id, project_id, number, title, status, column_id, epic_id, rank, created_by)
      values ('${orgId}', '${ids.story}', '${ids.project}', 1, 'S', 'backlog', '${ids.column}', '${ids.epic}', 'a', '{}'),
        ('${orgId}', '${randomUUID()}', '${ids.project}', 2, 'S', 'backlog', '${ids.column}', '${ids.epic}', 'b', '{}');
    insert into executions (org_id, id, project_id, target_type, target_id, state, epoch)
      values ('${orgId}', '${ids.execution}', '${ids.project}', 'story', '${ids.story}', 'available', 1);
    insert into contracts (org_id, id, project_id, slug, version) values ('${orgId}', '${ids.contract}', '${ids.project}', 'c', 1);
    insert into contract_versions (org_id, contract_id, version, project_id, kind, content, content_hash, story_id, published_by)
      values ('${orgId}', '${ids.contract}', 1, '${ids.project}', 'markdown', 'x', 'h', '${ids.story}', '{}');
    insert into agent_runs (org_id, id, project_id, run_id, member_id, story_id, execution_id, state, last_event)
      values ('${orgId}', '${ids.run}', '${ids.project}', 'r', '${memberId}', '${ids.story}', '${ids.execution}', 'running', '{}')`);
});

const takeLock = (): string => `
  insert into locks (org_id, id, project_id, resources, mode, holder, member_id, story_id, fencing_token, expires_at)
    values ('${orgId}', '${ids.lock}', '${ids.project}', '{src/**}', 'exclusive', '{}', '${memberId}', '${ids.story}', 1, now() + interval '1 hour')`;

/** Returns the given columns of the rows that still exist. */
const readRemainingRows = (columns: string, table: string): Promise<unknown[]> =>
  world.rows(`select ${columns} from ${table} where org_id = $1 order by 1`, orgId);

describe('a story that is deleted', () => {
  it('is let go of by locks, runs and versions of contracts, which stay', async () => {
    await world.rows(takeLock());
    await world.rows('delete from stories where org_id = $1 and id = $2', orgId, ids.story);
    expect(await readRemainingRows('id, story_id', 'locks')).toEqual([{ id: ids.lock, story_id: null }]);
    expect(await readRemainingRows('story_id, execution_id', 'agent_runs')).toEqual([
      { story_id: null, execution_id: ids.execution },
    ]);
    expect(await readRemainingRows('content, story_id', 'contract_versions')).toEqual([
      { content: 'x', story_id: null },
    ]);
  });

  it('is let go of by a lock, too, that was being taken meanwhile', async () => {
    const holder = await world.database.owner.connect();
    try {
      await holder.query(`begin; ${takeLock()}`);
      const deleted = world.rows('delete from stories where org_id = $1 and id = $2', orgId, ids.story);
      await world.waitUntilBlocked(1);
      await holder.query('commit');
      await deleted;
    } finally {
      holder.release();
    }
    expect(await readRemainingRows('id, story_id', 'locks')).toEqual([{ id: ids.lock, story_id: null }]);
  });
});

describe('an epic that is deleted', () => {
  it('is let go of by its stories, whose board is counted on', async () => {
    await world.database.owner.query(
      `begin;
       delete from epics where org_id = '${orgId}' and id = '${ids.epic}';
       delete from stories where org_id = '${orgId}' and id = '${ids.story}';
       commit`,
    );
    expect(await readRemainingRows('number, epic_id', 'stories')).toEqual([{ number: 2, epic_id: null }]);
    expect(await readRemainingRows('story_count', 'board_columns')).toEqual([{ story_count: 1 }]);
  });
});

describe('an execution that is deleted', () => {
  it('is let go of by the runs that held it', async () => {
    await world.rows('delete from executions where org_id = $1 and id = $2', orgId, ids.execution);
    expect(await readRemainingRows('story_id, execution_id', 'agent_runs')).toEqual([
      { story_id: ids.story, execution_id: null },
    ]);
  });
});

describe('a project that is deleted at once', () => {
  it('takes all of it along', async () => {
    await world.rows(takeLock());
    await world.rows('delete from projects where org_id = $1 and id = $2', orgId, ids.project);
    for (const table of ['stories', 'epics', 'executions', 'locks', 'agent_runs', 'contract_versions'])
      expect([table, await readRemainingRows('org_id', table)]).toEqual([table, []]);
  });
});
