/** GET /api/events/stream, read by the EventSource that programs use. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Client, createClient, followActivity, httpTransport, retrying } from '@muster/client';
import { newId } from '@muster/driver';
import { type Event } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, waitUntil } from '@muster/testing';
import { EventSource } from 'eventsource';
import { type ApiInstance, useApi } from './api.ts';
import { useStreams } from './streams.ts';

const api = useApi();
let people: People<AllHandlers>;
let ana: Client;
const open = useStreams<EventSource>(api, (team) => {
  ({ people, ana } = team);
});

interface Reader {
  readonly source: EventSource;
  /** Titles of the received events, in order. */
  readonly titles: string[];
  readonly ids: string[];
  /** The event names of the received messages that are not activity events. */
  readonly said: string[];
}

interface StreamOptions {
  readonly token: string;
  readonly query?: string;
  readonly lastEventId?: string;
  /** Returns the base URL for each connection, because a restarted process has a different one. */
  readonly at?: () => string;
}

/** Reads the stream; returns once the API has responded. */
async function read({
  token,
  query = '',
  lastEventId,
  at = () => api.url(),
}: StreamOptions): Promise<Reader> {
  const source = new EventSource(`http://muster.example/api/events/stream${query}`, {
    fetch: (address, init) => {
      const { pathname, search } = new URL(address);
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      if (lastEventId !== undefined && !headers.has('last-event-id'))
        headers.set('last-event-id', lastEventId);
      return fetch(`${at()}${pathname}${search}`, { ...init, headers });
    },
  });
  open.add(source);
  const reader: Reader = { source, titles: [], ids: [], said: [] };
  source.addEventListener('message', ({ data, lastEventId }) => {
    reader.titles.push((JSON.parse(data as string) as Event).subject.title);
    reader.ids.push(lastEventId);
  });
  for (const name of ['resync', 'end']) source.addEventListener(name, () => reader.said.push(name));
  await new Promise((resolve, reject) => {
    source.addEventListener('open', resolve);
    source.addEventListener('error', ({ code }) => {
      if (code !== undefined) reject(new Error(String(code)));
    });
  });
  return reader;
}

const write = (...titles: string[]) =>
  titles.reduce<Promise<unknown>>(
    (before, title) => before.then(() => ana.stories.create({ projectId: 'WEB', title })),
    Promise.resolve(),
  );
const waitForTitles = (reader: Reader, count: number) => waitUntil(() => reader.titles.length >= count);
const request = (path: string, token: string, headers: Record<string, string> = {}) =>
  api.request(path, { method: 'GET', token, headers });

describe('the stream of events', () => {
  it('tells what happens from now on, in order, to everybody who may see it', async () => {
    await write('Before');
    const readers = await Promise.all(
      [people.ana, people.dan, people.robo].map(({ me: { token } }) => read({ token })),
    );
    await write('One', 'Two', 'Three');
    for (const reader of readers) {
      await waitForTitles(reader, 3);
      expect(reader.titles).toEqual(['One', 'Two', 'Three']);
    }
  });

  it('tells nobody of what they may not see, nor of what they did not ask for', async () => {
    await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    const everything = await read({ token: people.dan.me.token });
    const comments = await read({
      token: people.ana.me.token,
      query: '?projectId=WEB&kinds=comment.created,spec.updated',
    });
    await ana.stories.create({ projectId: 'HID', title: 'Secret' });
    await write('Open');
    await ana.comments.create({ storyId: 'WEB-1', body: 'Well' });
    await waitForTitles(everything, 2);
    await waitForTitles(comments, 1);
    expect(everything.titles).toEqual(['Open', 'Open']);
    expect(comments.titles).toEqual(['Open']);
  });

  it('goes on where the reader was cut off, with the id that it has', async () => {
    const { token } = people.dan.me;
    const first = await read({ token });
    await write('One', 'Two');
    await waitForTitles(first, 2);
    first.source.close();
    await write('Three', 'Four');
    const second = await read({ token, lastEventId: first.ids[0] ?? '' });
    await waitForTitles(second, 3);
    expect(second.titles).toEqual(['Two', 'Three', 'Four']);
    // Cursors of events.list are valid for the stream, and the reverse.
    const { items } = await api.client(token).events.list({ after: second.ids[0] ?? '' });
    expect(items.map(({ subject }) => subject.title)).toEqual(['Three', 'Four']);
    const third = await read({ token, query: `?after=${items[0]?.cursor ?? ''}` });
    await waitForTitles(third, 1);
    expect(third.titles).toEqual(['Four']);
  });

  it('misses nothing and doubles nothing while the API is started anew', async () => {
    let running = await api.startReplica();
    const reader = await read({ token: people.dan.me.token, at: () => running.url() });
    const written = Array.from({ length: 12 }, (_, n) => `Story ${n}`);
    for (const [n, title] of written.entries()) {
      await write(title);
      if (n % 4 !== 2) continue;
      const next = await api.startReplica();
      const old = running;
      running = next;
      await old.stop();
    }
    await waitForTitles(reader, written.length);
    await pause(400);
    expect(reader.titles).toEqual(written);
    await running.stop();
  });

  it('says that events are gone where the reader comes too late, and goes on from now', async () => {
    const before = await api.client(people.dan.me.token).events.list({ after: 'latest' });
    await write('Gone');
    await api.world.rows('delete from activity where org_id = $1', people.orgId);
    const reader = await read({ token: people.dan.me.token, lastEventId: before.cursor });
    await waitUntil(() => reader.said.length > 0);
    expect(reader.said).toEqual(['resync']);
    await write('New');
    await waitForTitles(reader, 1);
    expect(reader.titles).toEqual(['New']);
  });

  it('ends with the right to it, and tells nothing of what came after', async () => {
    const reader = await read({ token: people.dan.me.token });
    await write('One');
    await waitForTitles(reader, 1);
    await ana.members.removeMember({ memberId: people.dan.me.memberId });
    await write('Two');
    await waitUntil(() => reader.source.readyState === EventSource.CLOSED);
    expect(reader.titles).toEqual(['One']);
  });

  it('is four for a member, whatever tokens it has; a fifth takes the place of the oldest', async () => {
    const { token, memberId } = people.chloe.me;
    const others = await Promise.all([1, 2].map(() => api.world.token(people.orgId, memberId)));
    const tokens = [token, people.robo.me.token, ...others.map(({ me }) => me.token)];
    const readers: Reader[] = [];
    for (const one of tokens) readers.push(await read({ token: one }));
    const ends: unknown[] = [];
    readers[0]?.source.addEventListener('end', ({ data }) => ends.push(JSON.parse(data as string)));
    await read({ token: people.dan.me.token });
    readers.push(await read({ token }));
    await waitUntil(() => readers[0]?.said.includes('end') === true);
    readers[0]?.source.close();
    expect(ends).toMatchObject([
      { code: 'conflict', details: { reason: 'stream_replaced', retryable: false } },
    ]);
    await write('After');
    for (const reader of readers.slice(1)) await waitForTitles(reader, 1);
    expect(readers.map(({ titles }) => titles)).toEqual([[], ...Array.from({ length: 4 }, () => ['After'])]);
  });

  it('answers HEAD with its headers, and ends', async () => {
    for (let count = 0; count < 6; count += 1) {
      const head = await fetch(new URL('/api/events/stream', api.url()), {
        method: 'HEAD',
        headers: { authorization: `Bearer ${people.dan.me.token}` },
      });
      expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
        ...[200, 'text/event-stream; charset=utf-8', ''],
      ]);
    }
  });

  it.each([
    ['?kinds=story.nothing', 400],
    ['?projectId=NONE', 404],
    ['?limit=x', 400],
    ['?after=x', 400],
    ['?nothing=1', 400],
  ])('refuses %s with %i, as JSON', async (query, status) => {
    const refused = await request(`/api/events/stream${query}`, people.dan.me.token);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  it('refuses who has no token, or one that is none', async () => {
    expect((await api.request('/api/events/stream', { method: 'GET' })).status).toBe(401);
    expect((await request('/api/events/stream', `mst_${newId()}`)).status).toBe(401);
  });
});

describe('the client', () => {
  it('follows the activity through a new start of the API, every event once and in order', async () => {
    const first = await api.startReplica();
    let running: ApiInstance = first;
    const { token } = people.dan.me;
    // The client keeps one address while the process that answers at the address is replaced. A process that
    // stops resets its idle connections.
    const dan = createClient(
      retrying((...call) => httpTransport({ baseUrl: running.url(), token })(...call)),
    );
    const { cursor: after } = await dan.events.list({ after: 'latest' });
    const followed = (async (): Promise<string[]> => {
      const titles: string[] = [];
      for await (const { subject } of followActivity(dan, { after, projectId: 'WEB' }))
        if (titles.push(subject.title) === 6) break;
      return titles;
    })();
    await write('1', '2', '3');
    const second = await api.startReplica();
    running = second;
    await first.stop();
    await write('4', '5', '6');
    expect(await followed).toEqual(['1', '2', '3', '4', '5', '6']);
    await second.stop();
  });
});
