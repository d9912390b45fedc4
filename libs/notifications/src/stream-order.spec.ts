/**
 * The guarantee of the streams: a reader who continues from the last entry misses nothing, however many
 * transactions write concurrently.
 */
import { expect, it } from '@jest/globals';
import { operation, project, ProjectRef } from '@muster/contract';
import { newId } from '@muster/driver';
import { handle } from '@muster/runtime';
import { type PersonOf, useWorld } from '@muster/testing';
import { z } from 'zod';
import { activity } from './operations/activity/handlers.ts';

/** Emits this many events about epics, without creating any. */
const create = handle(
  operation({
    name: 'epics.create',
    effect: 'write',
    summary: 'Emit events',
    description: 'Creates nothing.',
    access: project('contributor'),
    params: z.strictObject({ projectId: ProjectRef, title: z.string(), count: z.int() }),
    result: z.object({}),
    emits: ['epic.created'],
    example: { projectId: 'WEB', title: 'An epic', count: 1 },
  }),
  async ({ params, access, emit }) => {
    const { projectId } = await access();
    for (let event = 0; event < params.count; event += 1) {
      const title = `${params.title}/${event}`;
      emit('epic.created', { type: 'epic', id: newId(), key: null, title, projectId }, {});
    }
    return {};
  },
);

const world = useWorld({ activity, epics: { create } });

/** Reads the stream forward: from the newest entry back to the last one seen, and reverses the result. */
function follower(who: PersonOf<typeof world>) {
  const seen: string[] = [];
  return {
    seen,
    catchUp: async () => {
      const fresh: string[] = [];
      let cursor: string | undefined;
      for (;;) {
        const { items, nextCursor } = await who.activity.list({
          limit: 20,
          ...(cursor !== undefined && { cursor }),
        });
        const known = items.findIndex((item) => item.id === seen.at(-1));
        fresh.push(...items.slice(0, known === -1 ? items.length : known).map((item) => item.id));
        if (known !== -1 || nextCursor === null) break;
        cursor = nextCursor;
      }
      seen.push(...fresh.reverse());
    },
  };
}

async function arrangeProject(orgId: string): Promise<string> {
  const projectId = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
    orgId,
    projectId,
  );
  return projectId;
}

it('leaves a stream without gaps in the order of commits, which followers see whole and once, while 24 write', async () => {
  const { orgId, ana, ben, chloe, robo, dan } = await world.org();
  const projectId = await arrangeProject(orgId);
  const followers = [follower(dan), follower(chloe), follower(ben)];
  let writing = true;
  const following = followers.map(async ({ catchUp }) => {
    while (writing) await catchUp();
    await catchUp();
  });
  const writers = Array.from({ length: 24 }, async (_, writer) => {
    const who = [ana, ben, chloe, robo][writer % 4] ?? ana;
    for (let turn = 0; turn < 8; turn += 1) {
      await who.epics.create({
        projectId,
        title: `${writer}/${turn}`,
        count: 3 - ((writer + turn) % 3),
      });
    }
  });
  await Promise.all(writers);
  writing = false;
  await Promise.all(following);

  const stream = await world.rows<{ seq: number; id: string; subject: { title: string } }>(
    'select seq, id, subject from activity where org_id = $1 order by seq',
    orgId,
  );
  expect(stream).toHaveLength(24 * 8 * 2);
  expect(stream.map((entry) => entry.seq)).toEqual(stream.map((_, index) => index + 1));
  for (const { seen } of followers) expect(seen).toEqual(stream.map((entry) => entry.id));
  // The events of one writer appear in the order in which they were emitted.
  for (let writer = 0; writer < 24; writer += 1) {
    const done = stream.map((entry) => entry.subject.title).filter((title) => title.startsWith(`${writer}/`));
    expect(done).toEqual([...done].sort());
  }
});

it('would be missed by a follower if numbers were given before the commit, as a sequence gives them', async () => {
  const { orgId, dan } = await world.org();
  const { seen, catchUp } = follower(dan);
  const write = async (seq: number) => {
    const client = await world.database.owner.connect();
    await client.query('begin');
    await client.query(
      `insert into activity (org_id, seq, id, kind, actor, subject, data)
       values ($1, $2, $3, 'epic.created', '{"kind":"system","memberId":null,"agentId":null,"name":"x"}', $4, '{}')`,
      [orgId, seq, newId(), { type: 'epic', id: newId(), key: null, title: 'x' }],
    );
    return async () => {
      await client.query('commit');
      client.release();
    };
  };
  const slow = await write(1);
  const fast = await write(2);
  await fast();
  await catchUp();
  await slow();
  await catchUp();
  expect(seen).toHaveLength(1);
});
