/**
 * Tests how the record that a call is about is determined, in handlers and in operations that run within
 * another operation.
 */
import { describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { operation, project } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle } from './index.ts';

const stated = {
  effect: 'read' as const,
  ...{ summary: 'Try it', description: 'For specs.', access: project('viewer') },
  ...{ result: z.object({ ids: z.array(z.string().nullable()) }), example: { projectId: 'WEB' } },
};
const inner = operation({
  ...stated,
  name: 'tries.inner',
  params: z.strictObject({ projectId: z.string() }),
});
const outer = operation({
  ...stated,
  name: 'tries.outer',
  params: z.strictObject({ projectId: z.string(), others: z.array(z.string()) }),
  example: { projectId: 'WEB', others: [] },
});
const handlers = {
  inner: handle(inner, async ({ db, targetId }) => {
    const { id } = await db.one(sql<{ id: string | null }>`select ${targetId} as id`);
    return { ids: [id] };
  }),
  outer: handle(outer, async ({ params, db, targetId, perform }) => {
    const [{ id }, ...performed] = await Promise.all([
      db.one(sql<{ id: string | null }>`select ${targetId} as id`),
      ...params.others.map((projectId) => perform(inner, { projectId })),
    ]);
    return { ids: [id, ...performed.flatMap(({ ids }) => ids)] };
  }),
};
const world = useWorld(handlers);

async function arrangeProject({ orgId }: PeopleOf<typeof world>, key: string): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, 'P', 'org', 'hosted')`,
    orgId,
    id,
    key,
  );
  return id;
}

describe('the record that a call is about', () => {
  const ask = async (people: PeopleOf<typeof world>, projectId: string, ...others: string[]) => {
    const params = { projectId, others };
    const { json } = await world.call(people.chloe, handlers.outer, params);
    return (JSON.parse(json) as { ids: (string | null)[] }).ids;
  };

  it('is known by its id in the first statements of a handler, however it was named', async () => {
    const people = await world.org();
    const id = await arrangeProject(people, 'WEB');
    for (const ref of ['WEB', 'web', id]) expect(await ask(people, ref)).toEqual([id]);
  });

  it('is that of each operation performed: the same one by the same name, another one by its id', async () => {
    const people = await world.org();
    const [id, other] = [await arrangeProject(people, 'WEB'), await arrangeProject(people, 'APP')];
    expect(await ask(people, 'WEB', 'WEB', other, id)).toEqual([id, id, other, id]);
    await expect(ask(people, 'WEB', 'APP')).rejects.toThrow('must be named by id');
  });
});
