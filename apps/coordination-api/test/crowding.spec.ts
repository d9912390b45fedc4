/**
 * One caller, or a sender without a token, cannot exhaust the capacity for others: by bodies, long polls or
 * guessed tokens.
 */
import { once } from 'node:events';
import { type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newTokenSecret } from '@muster/runtime';
import { type AllHandlers } from '@muster/operations';
import {
  type PartialRequest,
  bytesBeforeAnswer,
  type People,
  sendPartialRequest,
  waitUntil,
} from '@muster/testing';
import { type ApiInstance, useApi } from './api.ts';
import { createOrgWithStory, target } from './one-story.ts';

/** Starts the API with a capacity of six concurrent requests. */
const api = useApi({ DATABASE_POOL: '1' });
const slotCount = 6;
let people: People<AllHandlers>;
beforeEach(async () => {
  people = await createOrgWithStory(api);
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const send = async (half: PartialRequest): Promise<Socket> => {
  const socket = await sendPartialRequest(api.url(), half);
  sockets.push(socket);
  return socket;
};

const statusOn = async (socket: Socket): Promise<string> => {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString().slice(9, 12);
};

const readRequestGauge = async (what: 'in_flight' | 'waiting'): Promise<number> =>
  Number(new RegExp(`^muster_requests_${what}\\{[^}]*\\} (\\d+)$`, 'm').exec(await api.metrics())?.[1]);
const identity = (copy: ApiInstance, token: string) => copy.call(token, 'session.identity');
const statuses = async (count: number): Promise<Set<number>> => {
  const seen = new Set<number>();
  for (let index = 0; index < count; index += 1) seen.add((await identity(api, people.ana.me.token)).status);
  return seen;
};

describe('half-sent bodies, twice as many as there are places', () => {
  it.each([
    ['one address', () => '127.0.0.1'],
    ['two hundred addresses', (index: number) => `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`],
  ])('of somebody without a token, from %s, keep nobody out', async (_title, from) => {
    for (let index = 0; index < 200; index += 1)
      await send({ path: '/invitations/accept', sentBody: '{', localAddress: from(index) });
    expect(await statuses(5)).toEqual(new Set([200]));
    const accept = await api.request('/invitations/accept', { body: { token: 'inv_none', name: 'Noor' } });
    expect(accept.status).toBe(404);
  });

  it('of somebody with a token keep nobody out', async () => {
    const { token } = people.dan.me;
    for (let index = 0; index < 2 * slotCount; index += 1) {
      const socket = await send({ path: '/api/comments/create', token, sentBody: '{' });
      const isAnswered = () => socket.bytesRead > bytesBeforeAnswer;
      // The request occupies a request slot only while its caller is identified.
      await waitUntil(async () => isAnswered() || (await readRequestGauge('in_flight')) === 0);
      expect(isAnswered()).toBe(false);
    }
    expect(await statuses(5)).toEqual(new Set([200]));
  });
});

it('a token that is no good is refused before a byte of the body is sent, on every path that takes one', async () => {
  for (const path of ['/api/query', '/api/agents/catalog/publish', '/api/agents/catalog', '/api/no/such'])
    for (const token of ['x', newTokenSecret()])
      expect([path, await statusOn(await send({ path, token, contentLength: 8_000_000 }))]).toEqual([
        path,
        '401',
      ]);
});

describe('waiting for events', () => {
  const executions = async (): Promise<{ executionId: string; leaseToken: string }> => {
    const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire(target);
    return { executionId: execution.id, leaseToken };
  };
  const lastSeq = async (executionId: string): Promise<number> =>
    (await people.dan.deliveryExecutions.eventsSince({ executionId, afterSeq: 0 })).lastSeq;

  it('a token waits eight times at once, and no more than that; who leaves makes room', async () => {
    const { executionId } = await executions();
    const afterSeq = await lastSeq(executionId);
    const { token } = people.dan.me;
    const gone = new AbortController();
    const wait = (seconds: number, signal?: AbortSignal) =>
      fetch(new URL('/api/deliveryExecutions/eventsSince', api.url()), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ executionId, afterSeq, waitSeconds: seconds }),
        ...(signal !== undefined && { signal }),
      });
    const waiting: Promise<unknown>[] = [];
    // Start the calls one by one, because each needs one of the six request slots before it starts to wait.
    for (let count = 1; count <= 8; count += 1) {
      waiting.push(wait(25, gone.signal).catch(() => undefined));
      await waitUntil(async () => (await readRequestGauge('waiting')) === count);
    }
    const ninth = await wait(25);
    expect([ninth.status, ninth.headers.get('retry-after'), await ninth.json()]).toEqual([
      429,
      '1',
      expect.objectContaining({
        code: 'rate_limited',
        details: { reason: 'too_many_waiting', retryAfterSeconds: 1, retryable: true },
      }),
    ]);
    // A call that does not wait is accepted even while the limit of waiting calls is reached.
    expect((await api.call(token, 'deliveryExecutions.eventsSince', { executionId, afterSeq })).status).toBe(
      200,
    );
    gone.abort();
    await Promise.all(waiting);
    await waitUntil(async () => (await readRequestGauge('waiting')) === 0);
    expect((await wait(0)).status).toBe(200);
  });

  it('an event that wakes many more than there are places keeps nobody out, and each of them hears of it', async () => {
    const { executionId, leaseToken } = await executions();
    const afterSeq = await lastSeq(executionId);
    const tokens: string[] = [people.dan.me.token, people.ben.me.token, people.ana.me.token];
    for (let index = 0; index < 22; index += 1) {
      const { me } = await api.world.token(people.orgId, people.dan.me.memberId);
      tokens.push(me.token);
    }
    const waiting: ReturnType<typeof api.call>[] = [];
    for (const token of tokens.flatMap((one) => [one, one])) {
      waiting.push(
        api.call(token, 'deliveryExecutions.eventsSince', { executionId, afterSeq, waitSeconds: 25 }),
      );
      await waitUntil(async () => (await readRequestGauge('waiting')) === waiting.length);
    }
    const over = new AbortController();
    const others = (async () => {
      const seen: number[] = [];
      while (!over.signal.aborted) seen.push((await identity(api, people.chloe.me.token)).status);
      return seen;
    })();
    await people.chloe.deliveryExecutions.checkpoint({ executionId, leaseToken, summary: 'Here' });
    const woken = await Promise.all(waiting);
    over.abort();
    expect(new Set(woken.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(woken.map(({ body }) => body['lastSeq']))).toEqual(new Set([afterSeq + 1]));
    expect(new Set(await others)).toEqual(new Set([200]));
  });
});

describe('calls of one member with several tokens, many more than there are connections', () => {
  it('leave connections and places to others while they wait for a lock, and are all answered', async () => {
    const copy = await api.startReplica({ DATABASE_POOL: '6' });
    const { world } = api;
    const [story] = await world.rows<{ id: string }>(
      'select id from stories where org_id = $1',
      people.orgId,
    );
    const holder = await world.database.owner.connect();
    await holder.query('begin');
    await holder.query('select 1 from stories where id = $1 for update', [story?.id]);
    const tokens = [people.ben.me.token];
    for (let index = 0; index < 3; index += 1) {
      const { me } = await world.token(people.orgId, people.ben.me.memberId);
      tokens.push(me.token);
    }
    const updates = Array.from({ length: 28 }, (_, index) =>
      copy.call(tokens[index % tokens.length] ?? null, 'stories.update', {
        storyId: 'WEB-1',
        title: `Title ${index}`,
      }),
    );
    await world.waitUntilBlocked(3);
    const others = await Promise.all([
      copy.call(people.ana.me.token, 'stories.create', { projectId: 'WEB', title: 'Another story' }),
      copy.call(people.chloe.me.token, 'stories.list', { projectId: 'WEB' }),
      copy.call(people.dan.me.token, 'session.identity'),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    await holder.query('rollback');
    holder.release();
    expect(new Set((await Promise.all(updates)).map(({ status }) => status))).toEqual(new Set([200]));
    await copy.stop();
  });
});

describe('tokens that nobody has', () => {
  const limited = { LIMIT_UNKNOWN_TOKENS: '5/3600' };

  it('are looked for a few times for an address, and then no more, whatever stands in them', async () => {
    const copy = await api.startReplica(limited);
    const guesses: number[] = [];
    for (let index = 0; index < 8; index += 1) guesses.push((await identity(copy, newTokenSecret())).status);
    expect(guesses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const refused = await identity(copy, newTokenSecret());
    expect(refused.body).toMatchObject({
      code: 'rate_limited',
      details: { reason: 'unknown_tokens', retryable: true },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await copy.stop();
  });

  it('cost those nothing who have one, from the same address', async () => {
    const copy = await api.startReplica(limited);
    const { ana, ben } = people;
    expect((await identity(copy, ana.me.token)).status).toBe(200);
    for (let index = 0; index < 4; index += 1) await identity(copy, newTokenSecret());
    // The token was found, so the lookup is not counted.
    expect((await identity(copy, ben.me.token)).status).toBe(200);
    for (let index = 0; index < 4; index += 1) await identity(copy, newTokenSecret());
    // The token is cached, so there is no lookup.
    expect((await identity(copy, ana.me.token)).status).toBe(200);
    await copy.stop();
  });

  it('are counted by the address that a trusted proxy names', async () => {
    const copy = await api.startReplica({ ...limited, TRUST_PROXY: '127.0.0.1' });
    const from = (address: string) =>
      copy.call(newTokenSecret(), 'session.identity', {}, { 'x-forwarded-for': address });
    const seen: number[] = [];
    for (let index = 0; index < 6; index += 1) seen.push((await from(`2001:db8:0:1::${index}`)).status);
    expect(seen).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await from('2001:db8:0:2::1')).status).toBe(401);
    await copy.stop();
  });
});
