/** Tests operations that run as one call per record: what stays after a failure, and what a repetition does. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { operation, org } from '@muster/contract';
import { type People, useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle, handleBatch, refusal } from './index.ts';

const world = useWorld({});

const definition = {
  name: 'tries.addTeams',
  effect: 'write',
  summary: 'Try it',
  description: 'For specs.',
  access: org('member'),
} as const;
const batchOperation = operation({
  ...definition,
  params: z.strictObject({ names: z.array(z.string().max(50)).max(9) }),
  result: z.object({ outcomes: z.array(z.string()) }),
  example: { names: ['a'] },
});
const itemOperation = operation({
  ...definition,
  params: z.strictObject({ name: z.string().max(50) }),
  result: z.object({ added: z.string() }),
  example: { name: 'a' },
});

/** Builds a batch that inserts a team for each name, and runs `beforeEachTeam` first. */
const createTeamsHandler = (beforeEachTeam: (name: string) => unknown = () => undefined) =>
  handleBatch(batchOperation, {
    item: handle(itemOperation, async ({ params: { name }, db, caller }) => {
      await db.all(
        sql`insert into teams (org_id, id, name) values (${caller.orgId}, ${newId()}, ${name}) returning id`,
      );
      await beforeEachTeam(name);
      return { added: name };
    }),
    split: ({ names }) => names.map((name) => ({ name })),
    join: (_params, outcomes) => ({
      outcomes: outcomes.map((outcome) =>
        'result' in outcome ? outcome.result.added : outcome.refusal.details.reason,
      ),
    }),
  });

let people: People;
beforeEach(async () => {
  people = await world.org();
});
const call = async (
  handler: ReturnType<typeof createTeamsHandler>,
  names: readonly string[],
  key: string | null = null,
) => {
  const { json, replayed } = await world.call(
    people.ana,
    handler,
    { names },
    key === null ? {} : { idempotencyKey: key },
  );
  return { ...(JSON.parse(json) as { outcomes: string[] }), replayed };
};
const teams = async () =>
  (
    await world.rows<{ name: string }>('select name from teams where org_id = $1 order by name', people.orgId)
  ).map(({ name }) => name);
const crashAt = (wanted: string) => (name: string) => {
  if (name === wanted) throw new Error('crash');
};

describe('a batch', () => {
  it('keeps each record that was changed, and refuses the others alone', async () => {
    const refusesB = createTeamsHandler((name) => {
      if (name === 'b') throw refusal('limit_exceeded');
    });
    expect(await call(refusesB, ['a', 'b', 'c'])).toEqual({
      outcomes: ['a', 'limit_exceeded', 'c'],
      replayed: false,
    });
    expect(await teams()).toEqual(['a', 'c']);
    const [{ operations } = { operations: [] }] = await world.rows<{ operations: string[] }>(
      'select array(select operation from audit where org_id = $1) as operations',
      people.orgId,
    );
    expect(operations).toEqual(['tries.addTeams', 'tries.addTeams']);
  });

  it('checks its caller and its parameters before the first record', async () => {
    await expect(world.call(people.dan, createTeamsHandler(), { names: ['a'] })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(world.call(people.ana, createTeamsHandler(), { names: ['a', 1] })).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect(await teams()).toEqual([]);
  });

  it('continues where it stopped when it is repeated with its key', async () => {
    await expect(call(createTeamsHandler(crashAt('b')), ['a', 'b', 'c'], 'k')).rejects.toThrow('crash');
    expect(await teams()).toEqual(['a']);
    expect(await call(createTeamsHandler(), ['a', 'b', 'c'], 'k')).toEqual({
      outcomes: ['a', 'b', 'c'],
      replayed: false,
    });
    expect(await teams()).toEqual(['a', 'b', 'c']);
  });

  it('answers a repetition with the first response, also for records that it refused', async () => {
    const names = ['a', 'a', 'b'];
    const first = await call(createTeamsHandler(), names, 'k');
    expect(first).toEqual({ outcomes: ['a', 'already_exists', 'b'], replayed: false });
    await world.rows('delete from teams where org_id = $1', people.orgId);
    expect(await call(createTeamsHandler(), names, 'k')).toEqual({ ...first, replayed: true });
    expect(await teams()).toEqual([]);
  });

  it('refuses its key for other parameters, also after it stopped', async () => {
    await call(createTeamsHandler(), ['a'], 'k');
    await expect(call(createTeamsHandler(), ['b'], 'k')).rejects.toMatchObject({
      details: { reason: 'idempotency_mismatch' },
    });
    await expect(call(createTeamsHandler(crashAt('d')), ['c', 'd'], 'l')).rejects.toThrow('crash');
    await expect(call(createTeamsHandler(), ['e', 'd'], 'l')).rejects.toMatchObject({
      details: { reason: 'idempotency_mismatch' },
    });
    expect(await teams()).toEqual(['a', 'c']);
  });

  it('answers calls with the same key at the same time alike', async () => {
    const calls = [1, 2, 3].map(() => call(createTeamsHandler(), ['a', 'b', 'c'], 'k'));
    for (const { outcomes } of await Promise.all(calls)) expect(outcomes).toEqual(['a', 'b', 'c']);
    expect(await teams()).toEqual(['a', 'b', 'c']);
  });
});
