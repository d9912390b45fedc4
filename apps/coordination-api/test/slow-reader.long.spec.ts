/** GET /api/events/stream with a client that does not read. */
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { type Event } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, waitUntil } from '@muster/testing';
import { useApi } from './api.ts';
import { type StreamBlock, blocksIn, openRaw, type RawStream } from './raw-stream.ts';
import { useStreams } from './streams.ts';

const api = useApi();
let people: People<AllHandlers>;
const open = useStreams<RawStream>(api, (team) => {
  ({ people } = team);
});

describe('a reader who takes nothing', () => {
  const events = 3_000;
  /** Writes events of about 10 KB each: together far more than connections and pages can buffer. */
  const writeMany = () =>
    api.world.rows(
      `with s as (update streams set activity = activity + $2 where org_id = $1 returning activity)
       insert into activity (org_id, seq, id, kind, actor, member_id, subject, data, at)
       select $1, s.activity - $2 + n, gen_random_uuid(), 'story.updated', $3, ($3::jsonb ->> 'memberId')::uuid,
         jsonb_build_object('type', 'story', 'id', gen_random_uuid(), 'key', 'WEB-1', 'title', 'Number ' || n),
         jsonb_build_object('text', repeat('x', 10000)), now()
       from s, generate_series(1, $2) n`,
      ...[people.orgId, events],
      JSON.stringify({ kind: 'member', memberId: people.ana.me.memberId, agentId: null, name: 'Ana' }),
    );
  const waiting = async () =>
    Number(/^muster_requests_waiting(?:\{[^}]*\})? (\d+)$/m.exec(await api.metrics())?.[1]);
  const numbersIn = (blocks: readonly StreamBlock[]) =>
    blocks.flatMap(({ data }) =>
      data === undefined ? [] : [Number((data as Event).subject.title.slice(7))],
    );

  /** Opens a stream whose data stays unread until the spec calls `readToEnd`. */
  const openUnread = (token: string, query: string) => {
    const { hostname, port } = new URL(api.url());
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `GET /api/events/stream?${query}&personal=false HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    socket.pause();
    return {
      close: () => void socket.destroy(),
      readToEnd: async () => {
        let text = '';
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.on('error', () => undefined).on('data', (piece: Buffer) => (text += piece.toString()));
        socket.resume();
        await closed;
        return text;
      },
    };
  };

  it('makes room for a fifth stream of its member, and is ended', async () => {
    const { token } = people.dan.me;
    const unread: ReturnType<typeof openUnread>[] = [];
    for (let count = 1; count <= 4; count += 1) {
      unread.push(openUnread(token, 'after=latest'));
      await waitUntil(async () => (await waiting()) === count);
    }
    const fifth = await openRaw({ at: api.url(), token, query: '?personal=false' });
    open.add(fifth);
    expect(await unread[0]?.readToEnd()).toContain('stream_replaced');
    for (const one of [...unread, fifth]) one.close();
    await waitUntil(async () => (await waiting()) === 0);
  });

  it('holds no place, is cut off with little kept for it, and misses nothing when it comes again', async () => {
    const { token } = people.dan.me;
    const { cursor } = await api.client(token).events.list({ after: 'latest' });
    await writeMany();
    const unread = openUnread(token, `after=${cursor}`);
    // While the stream waits for its client, it occupies no request slot. Later the API closes it.
    await waitUntil(async () => (await waiting()) === 1);
    await waitUntil(async () => (await waiting()) === 0);
    const text = await unread.readToEnd();
    const before = blocksIn(text.slice(text.indexOf('\r\n\r\n') + 4));
    const got = numbersIn(before);
    // The API sent only what the connections could buffer.
    expect(got.length).toBeLessThan(events);
    const last = before.at(-1)?.id ?? cursor;
    const again = await openRaw({
      ...{ at: api.url(), token, query: '?personal=false', headers: { 'last-event-id': last } },
    });
    open.add(again);
    const all = () => [...got, ...numbersIn(again.blocks())];
    await waitUntil(() => all().length >= events);
    expect(all()).toEqual(Array.from({ length: events }, (_, n) => n + 1));
  }, 300_000);
});
