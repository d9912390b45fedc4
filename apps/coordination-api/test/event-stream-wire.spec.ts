/** GET /api/events/stream on the wire: headers for proxies, and invalid requests. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type Event } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, waitUntil } from '@muster/testing';
import { useApi } from './api.ts';
import { openRaw, type RawStream } from './raw-stream.ts';
import { useStreams } from './streams.ts';

const api = useApi({ CORS_ORIGINS: 'https://app.example' });
let people: People<AllHandlers>;
let ana: Client;
const openStream = useStreams<RawStream>(api, (team) => {
  ({ people, ana } = team);
});

async function read(headers: Record<string, string> = {}, query = '?personal=false'): Promise<RawStream> {
  const stream = await openRaw({ at: api.url(), token: people.dan.me.token, query, headers });
  openStream.add(stream);
  await waitUntil(() => stream.blocks().length > 0);
  return stream;
}
const write = (title: string) => ana.stories.create({ projectId: 'WEB', title });

describe('the stream over the wire', () => {
  it('tells all between that it is to be passed on at once, unchanged, and kept by none', async () => {
    const { response } = await read();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(response.headers.has('content-length')).toBe(false);
  });

  it('may be read by a page of another origin where that is configured', async () => {
    const { response } = await read({ origin: 'https://app.example' });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const asked = await fetch(`${api.url()}/api/events/stream`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,last-event-id',
      },
    });
    expect(asked.headers.get('access-control-allow-headers')).toContain('last-event-id');
  });

  it('begins with an id by itself, and has after that one for each event and no other', async () => {
    const stream = await read();
    await write('One');
    await waitUntil(() => stream.blocks().length >= 2);
    await write('Two');
    await waitUntil(() => stream.blocks().length >= 3);
    // The pause is longer than the API takes to handle a batch of changes, so a superfluous block would have
    // arrived.
    await pause(600);
    expect(stream.blocks().map(({ data }) => (data as Event | undefined)?.subject.title)).toEqual([
      undefined,
      'One',
      'Two',
    ]);
  });

  it('says no more and no longer where much happens that its reader may not see', async () => {
    await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    const stream = await read();
    for (let n = 0; n < 20; n += 1) await ana.stories.create({ projectId: 'HID', title: `Hidden ${n}` });
    await write('Seen');
    await waitUntil(() => stream.blocks().length >= 2);
    await pause(600);
    expect(stream.blocks()).toHaveLength(2);
    expect(new Set(stream.blocks().map(({ id }) => id?.length)).size).toBe(1);
  });

  it.each([
    ['text that no server gave', 'x'],
    ['a number', '17'],
    ['a list', 'a,b'],
    ['a long text', 'A'.repeat(4_000)],
    ['a cursor that was changed', `${'A'.repeat(47)}B`],
  ])('refuses %s as Last-Event-ID with 400, as JSON', async (_, id) => {
    const refused = await api.request('/api/events/stream', {
      ...{ method: 'GET', token: people.dan.me.token, headers: { 'last-event-id': id } },
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  });

  it('refuses the cursor of another organization', async () => {
    const other = await api.org();
    const { cursor } = await api.client(other.ana.me.token).events.list();
    const refused = await api.request('/api/events/stream', {
      ...{ method: 'GET', token: people.dan.me.token, headers: { 'last-event-id': cursor } },
    });
    expect(refused.status).toBe(400);
  });
});
