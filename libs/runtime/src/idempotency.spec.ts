/**
 * Tests a write with an Idempotency-Key through the whole pipeline: it runs once, whatever is lost on the
 * way.
 */
import { type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createPool, newId, sql } from '@muster/driver';
import { operation, org } from '@muster/contract';
import { withTestTimeouts, useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle, type Handler } from './index.ts';

const world = useWorld({});

const statement = {
  summary: 'Try it',
  description: 'For specs.',
  result: z.object({ name: z.string(), attempt: z.int() }),
} as const;
const teamParams = z.strictObject({ name: z.string().max(50) });
const addTeam = (orgId: string, name: string) =>
  sql`insert into teams (org_id, id, name) values (${orgId}, ${newId()}, ${name})`;

/** Builds a write that inserts a team with the name in its parameters, and then runs `whileRunning`. */
const createTeamHandler = (
  whileRunning: (attempt: number) => Promise<unknown> = async () => undefined,
): Handler => {
  let attempt = 0;
  return handle(
    operation({
      ...statement,
      name: 'tries.addTeam',
      effect: 'write',
      access: org('member'),
      params: teamParams,
      example: { name: 'a' },
    }),
    async ({ params, caller, db }) => {
      attempt += 1;
      await db.all(addTeam(caller.orgId, params.name));
      await whileRunning(attempt);
      return { name: params.name, attempt };
    },
  );
};
const teams = async (orgId: string) =>
  (await world.rows<{ name: string }>('select name from teams where org_id = $1 order by name', orgId)).map(
    ({ name }) => name,
  );
/**
 * Makes the organization's idempotency keys older by the interval. Expired keys stay in the table, as before
 * a purge.
 */
const backdateKeys = (orgId: string, interval: string) =>
  world.rows(
    `update idempotency_keys set created_at = now() - $2::interval where org_id = $1`,
    orgId,
    interval,
  );

describe('an Idempotency-Key', () => {
  it('makes a write happen once, and answers it again', async () => {
    const { orgId, chloe } = await world.org();
    const handler = createTeamHandler();
    const first = await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' });
    const second = await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' });
    expect(first.replayed).toBe(false);
    expect(second).toEqual({ ...first, replayed: true });
    expect(await teams(orgId)).toEqual(['a']);
    expect(await world.rows('select seq from audit where org_id = $1', orgId)).toEqual([{ seq: 1 }]);
  });

  it('is of one token and one operation', async () => {
    const { orgId, ben, chloe } = await world.org();
    const again = await world.token(orgId, chloe.me.memberId);
    for (const [person, name] of [
      [chloe, 'a'],
      [ben, 'b'],
      [again, 'c'],
    ] as const) {
      expect(
        (await world.call(person, createTeamHandler(), { name }, { idempotencyKey: 'k' })).replayed,
      ).toBe(false);
    }
    expect(await teams(orgId)).toEqual(['a', 'b', 'c']);
  });

  it('with another body is refused; the order of fields makes none', async () => {
    const people = await world.org();
    const handler: Handler = handle(
      operation({
        ...statement,
        name: 'tries.two',
        effect: 'write',
        access: org('member'),
        params: z.strictObject({ a: z.int(), b: z.int() }),
        example: { a: 1, b: 2 },
      }),
      async () => ({ name: '', attempt: 1 }),
    );
    await world.call(people.chloe, handler, { a: 1, b: 2 }, { idempotencyKey: 'k' });
    expect((await world.call(people.chloe, handler, { b: 2, a: 1 }, { idempotencyKey: 'k' })).replayed).toBe(
      true,
    );
    await expect(
      world.call(people.chloe, handler, { a: 2, b: 1 }, { idempotencyKey: 'k' }),
    ).rejects.toMatchObject({
      status: 422,
      details: { reason: 'idempotency_mismatch' },
    });
  });

  it('keeps nothing of a call that failed, so that it can be repeated', async () => {
    const { orgId, chloe } = await world.org();
    const handler = createTeamHandler(async (attempt) => {
      if (attempt === 1) throw new Error('no');
    });
    await expect(world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' })).rejects.toThrow('no');
    expect(await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' })).toMatchObject({
      replayed: false,
      json: '{"name":"a","attempt":2}',
    });
    expect(await teams(orgId)).toEqual(['a']);
  });

  it('keeps no long text that the caller sent, and answers it all the same', async () => {
    const { orgId, chloe } = await world.org();
    const text = (letter: string): string => `${letter} "é\n`.repeat(20_000);
    const [one, two] = [text('a'), text('b')];
    const handler: Handler = handle(
      operation({
        ...statement,
        result: z.object({
          spec: z.object({ content: z.string(), before: z.null() }),
          texts: z.array(z.string()),
          at: z.date(),
        }),
        name: 'tries.texts',
        effect: 'write',
        access: org('member'),
        params: z.strictObject({ content: z.string(), parts: z.array(z.object({ text: z.string() })) }),
        example: { content: 'a', parts: [] },
      }),
      async ({ params: { content, parts } }) => ({
        spec: { content, before: null },
        texts: ['short', ...parts.map((part) => part.text), content],
        at: new Date(0),
      }),
    );
    const params = { content: one, parts: [{ text: 'also short' }, { text: two }] };
    const first = await world.call(chloe, handler, params, { idempotencyKey: 'k' });
    expect(first.json.length).toBeGreaterThan(300_000);
    const again = await world.call(
      chloe,
      handler,
      { parts: params.parts, content: one },
      { idempotencyKey: 'k' },
    );
    expect(again).toEqual({ ...first, replayed: true });
    const [kept] = await world.rows<{ bytes: number }>(
      'select length(response) + length(sent_texts::text) as bytes from idempotency_keys where org_id = $1',
      orgId,
    );
    expect(kept?.bytes).toBeLessThan(500);
  });

  it('counts anew after a day', async () => {
    const { orgId, chloe } = await world.org();
    const handler = createTeamHandler();
    await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' });
    await backdateKeys(orgId, '23 hours 59 minutes');
    expect((await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' })).replayed).toBe(true);
    await backdateKeys(orgId, '24 hours 1 second');
    expect(await world.call(chloe, handler, { name: 'b' }, { idempotencyKey: 'k' })).toMatchObject({
      replayed: false,
      json: '{"name":"b","attempt":3}',
    });
    expect((await world.call(chloe, handler, { name: 'b' }, { idempotencyKey: 'k' })).replayed).toBe(true);
  });

  it('is forgotten after a day also by those who are not let in any more, with whatever body', async () => {
    const { orgId, chloe } = await world.org();
    const asks = (name: string) => world.call(chloe, createTeamHandler(), { name }, { idempotencyKey: 'k' });
    await asks('a');
    await world.rows(`update members set role = 'viewer' where id = $1`, chloe.me.memberId);
    expect((await asks('a')).replayed).toBe(true);
    await expect(asks('b')).rejects.toMatchObject({ details: { reason: 'idempotency_mismatch' } });
    await backdateKeys(orgId, '24 hours 1 second');
    for (const name of ['a', 'b']) await expect(asks(name)).rejects.toMatchObject({ status: 403 });
  });

  it('in flight: the twin waits, and is answered as the first; one that waits too long is told so', async () => {
    const { orgId, chloe } = await world.org();
    const inside = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const handler = createTeamHandler(async () => {
      inside.resolve(undefined);
      await goOn.promise;
    });
    const first = world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' });
    await inside.promise;
    // This pool waits only 50 ms for locks, where the service waits two seconds.
    const impatient = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    impatient.on('connect', (client) => void client.query(`set lock_timeout = '50ms'`));
    await expect(
      world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k', pool: impatient }),
    ).rejects.toMatchObject({
      status: 409,
      retryAfter: 1,
      details: { reason: 'idempotency_in_flight', retryable: true },
    });
    await impatient.end();
    const twins = [1, 2, 3].map(() => world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k' }));
    goOn.resolve(undefined);
    const { json } = await first;
    expect(await Promise.all(twins)).toMatchObject(twins.map(() => ({ json, replayed: true })));
    expect(await teams(orgId)).toEqual(['a']);
  });

  it('makes it safe to repeat a call whose COMMIT nobody answered, whether it happened', async () => {
    const { orgId, chloe } = await world.org();
    const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
    let cut = true;
    pool.on('connect', (client) => {
      const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
      const write: (bytes: Buffer) => boolean = stream.write.bind(stream);
      let bursts = 0;
      stream.write = (bytes) => {
        bursts += 1;
        // The second pipeline carries COMMIT. It reaches the server, but its response reaches no caller.
        if (cut && bursts === 2) {
          setImmediate(() => {
            stream.destroySoon();
          });
        }
        return write(bytes as Buffer);
      };
    });
    const handler = createTeamHandler();
    await expect(
      world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k', pool }),
    ).rejects.toMatchObject({
      status: 503,
      retryAfter: 1,
      details: { reason: 'outcome_unknown', retryable: true },
    });
    cut = false;
    expect(await world.call(chloe, handler, { name: 'a' }, { idempotencyKey: 'k', pool })).toMatchObject({
      replayed: true,
      json: '{"name":"a","attempt":1}',
    });
    expect(await teams(orgId)).toEqual(['a']);
    await pool.end();
  });

  it('makes it safe to repeat a call whose COMMIT nobody answered, whether it did not', async () => {
    const { orgId, chloe } = await world.org();
    await world.rows(`create function die() returns trigger language plpgsql security definer as
      'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`);
    await world.rows(`create constraint trigger dies after insert on teams deferrable initially deferred
      for each row when (new.name = 'dies') execute function die()`);
    const handler = createTeamHandler();
    await expect(world.call(chloe, handler, { name: 'dies' }, { idempotencyKey: 'k' })).rejects.toMatchObject(
      {
        details: { reason: 'outcome_unknown' },
      },
    );
    await world.rows('drop function die cascade');
    expect((await world.call(chloe, handler, { name: 'dies' }, { idempotencyKey: 'k' })).replayed).toBe(
      false,
    );
    expect(await teams(orgId)).toEqual(['dies']);
  });

  it('means nothing to a read', async () => {
    const { chloe, orgId } = await world.org();
    let attempt = 0;
    const reads: Handler = handle(
      operation({
        ...statement,
        name: 'tries.read',
        effect: 'read',
        access: org('viewer'),
        params: z.strictObject({}),
        example: {},
      }),
      async () => ({ name: '', attempt: (attempt += 1) }),
    );
    await world.call(chloe, reads, {}, { idempotencyKey: 'k' });
    expect(await world.call(chloe, reads, {}, { idempotencyKey: 'k' })).toMatchObject({
      replayed: false,
      json: '{"name":"","attempt":2}',
    });
    expect(await world.rows('select 1 from idempotency_keys where org_id = $1', orgId)).toEqual([]);
  });
});
