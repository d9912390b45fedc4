/** A record that cannot be removed delays neither other records nor other tables. */
import { expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createUpkeep } from '../src/upkeep.ts';

const world = useWorld({});
const { signal } = new AbortController();

const workers = () =>
  createUpkeep({
    ...{ pool: world.database.app, logger: pino({ level: 'silent' }) },
    ...{ storage: undefined, retentionDays: 90, onRowsRemoved: () => undefined },
  });

const refuseDeletesOf = async (table: string, condition: string) => {
  await world.rows(
    `create or replace function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'damaged'; end $$`,
  );
  await world.rows(
    `create trigger refuse before delete on ${table} for each row when (${condition}) execute function public.refuse()`,
  );
};

it('removes the projects after one that cannot be, and what was deleted of other kinds', async () => {
  const { orgId } = await world.org();
  const gone = await world.org();
  const [damaged, whole] = [newId(), newId()];
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin, deleted_at)
     values ($1, $2, 'WEB', 'Web', 'org', 'hosted', now() - interval '1 day'),
       ($1, $3, 'APP', 'App', 'org', 'hosted', now())`,
    ...[orgId, damaged, whole],
  );
  await world.rows(`update orgs set deleted_at = now() - interval '31 days' where id = $1`, gone.orgId);
  await refuseDeletesOf('projects', `old.id = '${damaged}'`);
  await expect(workers()['deletions.remove'](signal)).rejects.toThrow('damaged');
  expect(await world.rows('select id from projects where org_id = $1', orgId)).toEqual([{ id: damaged }]);
  expect(await world.rows('select id from orgs where id = $1', gone.orgId)).toEqual([]);
});

it('purges the tables after one that cannot be', async () => {
  const { orgId, ana } = await world.org();
  await world.rows(
    `insert into notifications (org_id, id, member_id, kind, title, actor, in_inbox, created_at, read_at)
     values ($1, $2, $3, 'mention', 'Read', '{}', true, now() - interval '200 days', now() - interval '91 days')`,
    ...[orgId, newId(), ana.me.memberId],
  );
  await world.rows(
    `insert into outbox (org_id, id, topic, payload, done_at)
     values ($1, gen_random_uuid(), 'done', '{}', now() - interval '2 days')`,
    orgId,
  );
  await refuseDeletesOf('notifications', 'true');
  await expect(workers()['retention.purge'](signal)).rejects.toThrow('damaged');
  expect(await world.rows(`select from outbox where topic = 'done'`)).toEqual([]);
  expect(await world.rows('select from notifications')).toHaveLength(1);
});
