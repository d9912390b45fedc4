/**
 * Tests deletions of any size: nothing is left, whenever they were interrupted, and no other row is removed.
 */
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { removeInPortions } from './removal.ts';

const world = useWorld({});
const { signal } = new AbortController();

/**
 * Inserts a project with this many stories and comments per story. Half of the comments are replies with a
 * reaction.
 */
async function createProject(
  orgId: string,
  memberId: string,
  stories: number,
  comments: number,
): Promise<string> {
  const [projectId, columnId, epicId, executionId] = [newId(), newId(), newId(), newId()];
  await world.database.owner.query(`
    begin;
    select set_config('muster.counts', 'by hand', true);
    insert into projects (org_id, id, key, name, visibility, origin)
      values ('${orgId}', '${projectId}', 'P' || upper(substr(md5('${projectId}'), 1, 6)), 'P', 'org', 'hosted');
    insert into project_counters (org_id, project_id) values ('${orgId}', '${projectId}');
    insert into board_columns (org_id, id, project_id, name, status, position)
      values ('${orgId}', '${columnId}', '${projectId}', 'Backlog', 'backlog', 0);
    insert into epics (org_id, id, project_id, title) values ('${orgId}', '${epicId}', '${projectId}', 'E');
    insert into stories (org_id, id, project_id, number, title, status, column_id, epic_id, rank, created_by)
      select '${orgId}', gen_random_uuid(), '${projectId}', n, 'S', 'backlog', '${columnId}', '${epicId}', lpad(n::text, 8, '0'), '{}'
      from generate_series(1, ${stories}) n;
    update stories s set parent_id = p.id from stories p
      where s.project_id = '${projectId}' and p.project_id = s.project_id and p.number % 3 = 1 and s.number = p.number + 1;
    insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
      select s.org_id, gen_random_uuid(), s.id, 'comment', 'x', '{}', '${memberId}'
      from stories s, generate_series(1, ${comments / 2}) where s.project_id = '${projectId}';
    insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id)
      select c.org_id, gen_random_uuid(), c.story_id, c.id, 'comment', 'x', '{}', '${memberId}'
      from comments c join stories s on s.id = c.story_id where s.project_id = '${projectId}';
    insert into comment_reactions (org_id, comment_id, member_id, emoji)
      select c.org_id, c.id, '${memberId}', '+1' from comments c join stories s on s.id = c.story_id
      where s.project_id = '${projectId}' and c.parent_id is not null;
    insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author)
      select s.org_id, s.id, 1, 'x', 'h', 1, 0, '{}' from stories s where s.project_id = '${projectId}';
    insert into story_blockers (org_id, project_id, story_id, blocker_id)
      select a.org_id, a.project_id, a.id, b.id from stories a join stories b on b.project_id = a.project_id and b.number = a.number + 1
      where a.project_id = '${projectId}' and a.number < 5;
    insert into executions (org_id, id, project_id, target_type, target_id, state, epoch)
      values ('${orgId}', '${executionId}', '${projectId}', 'story', gen_random_uuid(), 'available', 1);
    insert into execution_events (org_id, execution_id, seq, kind, actor)
      select '${orgId}', '${executionId}', n, 'note', '{}' from generate_series(1, 5) n;
    commit`);
  return projectId;
}

const listTables = async (): Promise<string[]> =>
  (
    await world.rows<{ name: string }>(
      `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
    )
  ).map(({ name }) => name);

/** Counts the rows of each table by organization. */
async function countRowsByTable(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of await listTables()) {
    const org = name === 'orgs' ? 'id' : 'org_id';
    const rows = await world.rows<{ org: string; n: number }>(
      `select ${org} as org, count(*)::int as n from ${name} group by 1`,
    );
    for (const { org, n } of rows) counts[`${name} ${org}`] = n;
  }
  return counts;
}

describe('a project that was deleted', () => {
  it('goes in portions, whenever it was stopped before, and leaves the others as they are', async () => {
    const { orgId, ana } = await world.org();
    await createProject(orgId, ana.me.memberId, 3, 4);
    const before = await countRowsByTable();
    const id = await createProject(orgId, ana.me.memberId, 40, 20);
    let portions = 0;
    for (let tries = 1; ; tries += 1) {
      const stop = new AbortController();
      let left = 7 * tries;
      const removal = {
        table: 'projects' as const,
        key: { org_id: orgId, id },
        signal: stop.signal,
        maxPortionRows: 50,
        onPortion: (_table: string, rows: number) => {
          expect(rows).toBeLessThanOrEqual(50);
          portions += 1;
          left -= 1;
          if (left === 0) stop.abort(new Error('stopped in the middle'));
        },
      };
      const outcome = await removeInPortions(world.database.app, removal).catch((error: unknown) => error);
      if (outcome === true) break;
      expect(outcome).toMatchObject({ message: 'stopped in the middle' });
    }
    expect(portions).toBeGreaterThan(20);
    expect(await countRowsByTable()).toEqual(before);
  });

  it('is left to whoever is in the middle of a portion: another remover gives way at once', async () => {
    const { orgId, ana } = await world.org();
    const id = await createProject(orgId, ana.me.memberId, 5, 4);
    const removal = { table: 'projects' as const, key: { org_id: orgId, id }, signal };
    const caller = await world.database.owner.connect();
    try {
      // A row that this caller has locked makes the first process wait inside its portion.
      await caller.query('begin');
      await caller.query(
        'select from comment_reactions where comment_id in (select c.id from comments c join stories s on s.id = c.story_id where s.project_id = $1) for update',
        [id],
      );
      const first = removeInPortions(world.database.app, removal);
      await world.waitUntilBlocked(1);
      expect(await removeInPortions(world.database.app, removal)).toBe(false);
      await caller.query('rollback');
      expect(await first).toBe(true);
    } finally {
      // Ends the transaction, whatever the outcome.
      caller.release(true);
    }
    expect(await world.rows('select from projects where id = $1', id)).toEqual([]);
  });

  it('is left to one of those who meet at it, and that one goes on to the end', async () => {
    const { orgId, ana } = await world.org();
    const id = await createProject(orgId, ana.me.memberId, 5, 4);
    const removal = { table: 'projects' as const, key: { org_id: orgId, id }, signal };
    const others: Promise<boolean>[] = [];
    const onPortion = (): void => {
      others.push(removeInPortions(world.database.app, removal));
    };
    const two = await Promise.all([
      removeInPortions(world.database.app, { ...removal, onPortion }),
      removeInPortions(world.database.app, removal),
    ]);
    // A process that finds the row locked stops, and the process that holds the lock removes the rest.
    expect([...two, ...(await Promise.all(others))]).toContain(true);
    expect(await world.rows('select from projects where id = $1', id)).toEqual([]);
  });

  it('stays, and its removal ends, while its organization leaves for another server', async () => {
    const { orgId, ana } = await world.org();
    const id = await createProject(orgId, ana.me.memberId, 5, 4);
    await world.rows('insert into app.closed_orgs (org_id) values ($1)', orgId);
    await world.rows(`create trigger "leaves" before update or delete on comment_reactions for each row
      when (old.org_id = '${orgId}') execute function app.guard_leaving_row('${orgId}')`);
    const before = await countRowsByTable();
    try {
      const removal = {
        table: 'projects' as const,
        key: { org_id: orgId, id },
        signal: AbortSignal.timeout(20_000),
      };
      expect(await removeInPortions(world.database.app, removal)).toBe(false);
      expect(await countRowsByTable()).toEqual(before);
    } finally {
      await world.rows('drop trigger "leaves" on comment_reactions');
    }
  });

  it('rests after each portion for as long as that took', async () => {
    const { orgId, ana } = await world.org();
    const id = await createProject(orgId, ana.me.memberId, 20, 2);
    // The trigger makes a portion take a second.
    await world.database.owner.query(`
      create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return old; end $$;
      create trigger slowly before delete on story_specs for each row execute function slowly()`);
    const began = performance.now();
    await removeInPortions(world.database.app, { table: 'projects', key: { org_id: orgId, id }, signal });
    expect(performance.now() - began).toBeGreaterThan(2_000);
    await world.database.owner.query('drop function slowly cascade');
  });
});

describe('an organization that was deleted', () => {
  it('goes with all that is in it, and leaves the others as they are', async () => {
    const other = await world.org();
    await createProject(other.orgId, other.ana.me.memberId, 3, 4);
    const before = await countRowsByTable();
    const { orgId, ana } = await world.org();
    for (let n = 0; n < 3; n += 1) await createProject(orgId, ana.me.memberId, 20, 6);
    await world.rows(
      `insert into activity (org_id, seq, id, kind, actor, subject, data)
       select $1, n, gen_random_uuid(), 'story.created', '{}', '{}', '{}' from generate_series(1, 250) n`,
      orgId,
    );
    const done = await removeInPortions(world.database.app, {
      table: 'orgs',
      key: { id: orgId },
      signal,
      maxPortionRows: 100,
    });
    expect(done).toBe(true);
    expect(await countRowsByTable()).toEqual(before);
  });
});
