/** GET /api/events/stream: events of the member's own inbox. */
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, followStream, type Streamed } from '@muster/client';
import { newId } from '@muster/driver';
import { type Notification } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person, waitUntil } from '@muster/testing';
import { type ApiInstance, useApi } from './api.ts';
import { openRaw, type RawStream } from './raw-stream.ts';
import { useStreams } from './streams.ts';

const api = useApi();
let people: People<AllHandlers>;
let ana: Client;
const open = useStreams<RawStream>(api, (team) => {
  ({ people, ana } = team);
});

interface StreamOptions {
  readonly query?: string;
  readonly at?: ApiInstance;
  readonly includesCounts?: boolean;
}

/** Opens a stream, and waits for the first unread count if one is expected. */
async function read(
  { me: { token } }: Person<AllHandlers>,
  { query = '', at = api, includesCounts: counts = true }: StreamOptions = {},
) {
  const stream = await openRaw({ at: at.url(), token, query });
  open.add(stream);
  await waitUntil(() => stream.blocks().length > 0 && (!counts || countsOf(stream).length > 0));
  return stream;
}
const notificationsOf = (stream: RawStream) => stream.eventsNamed('notification.created') as Notification[];
const bodiesOf = (stream: RawStream) => notificationsOf(stream).map(({ body }) => body);
const countsOf = (stream: RawStream) =>
  (stream.eventsNamed('notifications.unread') as { unread: number }[]).map(({ unread }) => unread);

const send = async (...messages: string[]) => {
  for (const message of messages) await ana.broadcasts.send({ message });
};
const askMember = (who: Person<AllHandlers>, projectId = 'WEB') =>
  ana.stories.create({ projectId, title: 'A story' }).then(({ story }) =>
    ana.comments.create({
      storyId: story.id,
      kind: 'question',
      body: 'Well?',
      directedTo: who.me.memberId,
    }),
  );
/** Waits longer than two checks of the inboxes take. */
const waitForPolls = () => pause(600);

describe('the stream of a member', () => {
  it('tells each of two members, at two processes, of its own notifications and their count', async () => {
    const other = await api.startReplica();
    const ben = await read(people.ben);
    const chloe = await read(people.chloe, { at: other });
    await send('One');
    await askMember(people.chloe);
    await send('Two');
    for (const [stream, { me }, count] of [
      [ben, people.ben, 2],
      [chloe, people.chloe, 3],
    ] as const) {
      await waitUntil(() => countsOf(stream).at(-1) === count && notificationsOf(stream).length >= count);
      const { items } = await api.client(me.token).notifications.list();
      expect(notificationsOf(stream)).toEqual([...items].reverse());
      expect(stream.eventsNamed('notifications.unread').at(-1)).toEqual(
        await api.client(me.token).notifications.unreadCount(),
      );
    }
    await other.stop();
  });

  it('counts what is unread once on connecting, and says nothing of what was there before', async () => {
    await send('Old', 'Older');
    const stream = await read(people.ben);
    expect(countsOf(stream)).toEqual([2]);
    await ana.stories.create({ projectId: 'WEB', title: 'A story' });
    await waitUntil(() =>
      stream.blocks().some(({ event, data }) => event === undefined && data !== undefined),
    );
    await waitForPolls();
    expect(countsOf(stream)).toEqual([2]);
    await send('New');
    await waitUntil(() => countsOf(stream).length > 1 && bodiesOf(stream).length > 0);
    expect([bodiesOf(stream), countsOf(stream)]).toEqual([['New'], [2, 3]]);
  });

  it('says that fewer are unread, wherever they were read', async () => {
    const other = await api.startReplica();
    await send('One', 'Two');
    const stream = await read(people.ben);
    await other.client(people.ben.me.token).notifications.markAllRead();
    await waitUntil(() => countsOf(stream).length > 1);
    expect(countsOf(stream)).toEqual([2, 0]);
    await other.stop();
  });

  it('tells of one that came while another was read, so that as many are unread', async () => {
    await send('One');
    const stream = await read(people.ben);
    // One statement marks the first notification as read and adds a second one, so the stream sees both
    // changes in the same check.
    await api.world.rows(
      `with read as (update notifications set read_at = now() where org_id = $1 and member_id = $2)
       insert into notifications (org_id, id, member_id, kind, title, body, actor, created_at)
       select org_id, $3, member_id, kind, title, 'Two', actor, now() from notifications where org_id = $1 and member_id = $2`,
      ...[people.orgId, people.ben.me.memberId, newId()],
    );
    await api.world.rows('update streams set audit = audit + 1 where org_id = $1', people.orgId);
    await waitUntil(() => notificationsOf(stream).length > 0 && countsOf(stream).length > 0);
    expect([bodiesOf(stream), countsOf(stream)]).toEqual([['Two'], [1]]);
  });

  it('tells of one that a slow transaction left behind those that came after it', async () => {
    const early = newId();
    await send('One');
    const stream = await read(people.ben);
    await send('Two');
    await waitUntil(() => notificationsOf(stream).length === 1);
    await api.world.rows(
      `insert into notifications (org_id, id, member_id, kind, title, body, actor, created_at)
       select org_id, $3, member_id, kind, title, 'Early', actor, created_at - interval '5 s' from notifications
       where org_id = $1 and member_id = $2 and body = 'One'`,
      ...[people.orgId, people.ben.me.memberId, early],
    );
    await send('Three');
    await waitUntil(() => countsOf(stream).at(-1) === 4 && bodiesOf(stream).length >= 3);
    expect(new Set(bodiesOf(stream))).toEqual(new Set(['Two', 'Early', 'Three']));
    expect(bodiesOf(stream)).toHaveLength(3);
  });

  it('counts no more what is about a project that the member lost', async () => {
    const { project } = await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    await ana.projects.members.add({
      ...{ projectId: project.id, memberId: people.chloe.me.memberId, role: 'contributor' },
    });
    await askMember(people.chloe, 'HID');
    const stream = await read(people.chloe);
    expect(countsOf(stream)).toEqual([1]);
    await ana.projects.members.remove({ projectId: project.id, memberId: people.chloe.me.memberId });
    await waitUntil(() => countsOf(stream).length > 1);
    expect([countsOf(stream), notificationsOf(stream)]).toEqual([[1, 0], []]);
  });

  it('tells an agent only where its member let it read the inbox', async () => {
    const { orgId, chloe, robo } = people;
    const trusted = await api.world.token(orgId, chloe.me.memberId, { agent: 'reader', mayReadInbox: true });
    const without = await read(robo, { includesCounts: false });
    const withInbox = await read(trusted);
    await send('One');
    await waitUntil(() => notificationsOf(withInbox).length === 1);
    await waitUntil(() => without.blocks().some(({ data }) => data !== undefined));
    await waitForPolls();
    expect(without.blocks().filter(({ event }) => event !== undefined)).toEqual([]);
    expect(without.blocks().filter(({ data }) => data !== undefined)).toHaveLength(1);
  });

  it('leaves it out where that is asked, and takes no other word for it', async () => {
    const without = await read(people.ben, { query: '?personal=false', includesCounts: false });
    const withInbox = await read(people.ben, { query: '?personal=true' });
    await send('One');
    await waitUntil(() => notificationsOf(withInbox).length === 1);
    await waitForPolls();
    expect(without.blocks().filter(({ event }) => event !== undefined)).toEqual([]);
    const { token } = people.ben.me;
    for (const word of ['no', '', '1&personal=true']) {
      const refused = await api.request(`/api/events/stream?personal=${word}`, { method: 'GET', token });
      expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
    }
  });

  it('moves no place in the stream: what is of the inbox has no id, and the others have one', async () => {
    const stream = await read(people.ben);
    await send('One');
    await ana.stories.create({ projectId: 'WEB', title: 'A story' });
    await waitUntil(
      () => countsOf(stream).length === 2 && stream.blocks().some(({ data }) => data !== undefined),
    );
    await waitUntil(() => stream.blocks().filter(({ event }) => event === undefined).length === 3);
    for (const { event, id } of stream.blocks()) expect(id === undefined).toBe(event !== undefined);
  });
});

describe('followStream of the client', () => {
  it('tells each event and notification by its type, and goes on through a new start of the API', async () => {
    let running = await api.startReplica();
    const leaving = new AbortController();
    const got: Streamed[] = [];
    const following = (async () => {
      const at = (...[url, init]: Parameters<typeof fetch>) =>
        fetch(new URL(`${(url as URL).pathname}${(url as URL).search}`, running.url()), init);
      const options = { baseUrl: 'http://muster.example', token: people.ben.me.token, fetch: at };
      for await (const one of followStream({ ...options, signal: leaving.signal })) got.push(one);
    })();
    const titles = () => got.flatMap((one) => (one.type === 'event' ? [one.event.subject.title] : []));
    const unread = () => got.flatMap((one) => (one.type === 'unread' ? [one.unread] : []));
    const make = (title: string) => ana.stories.create({ projectId: 'WEB', title });
    await waitUntil(() => unread().length === 1);
    await make('One');
    await send('First');
    await waitUntil(() => got.some(({ type }) => type === 'notification') && titles().includes('One'));
    const old = running;
    running = await api.startReplica();
    await old.stop();
    await make('Two');
    await send('Missed');
    await waitUntil(() => unread().at(-1) === 2);
    await make('Three');
    await waitUntil(() => titles().includes('Three'));
    expect(titles().filter((title) => ['One', 'Two', 'Three'].includes(title))).toEqual([
      'One',
      'Two',
      'Three',
    ]);
    // Cursors of the stream are valid for events.list.
    const [first] = got.flatMap((one) => (one.type === 'event' ? [one.event] : []));
    const { items } = await api.client(people.ben.me.token).events.list({ after: first?.cursor ?? '' });
    expect(items.some(({ subject }) => subject.title === 'Three')).toBe(true);
    leaving.abort();
    await following;
    await running.stop();
  });

  it('throws what the API refuses, and the end of the token while it follows', async () => {
    const options = { baseUrl: api.url(), token: people.dan.me.token };
    const all = (more: object) => Array.fromAsync(followStream({ ...options, ...more }));
    await expect(all({ token: `mst_${newId()}` })).rejects.toMatchObject({ status: 401 });
    await expect(all({ after: 'x' })).rejects.toMatchObject({ status: 400 });
    await expect(all({ projectId: 'NONE' })).rejects.toMatchObject({ status: 404 });
    const following = followStream(options);
    // The unread count shows that the stream is open. The stream may end before the call that removes the
    // member returns.
    expect((await following.next()).value).toMatchObject({ type: 'unread' });
    const refused = expect(Array.fromAsync(following)).rejects.toMatchObject({ status: 401 });
    await ana.members.removeMember({ memberId: people.dan.me.memberId });
    await send('Gone');
    await refused;
  });

  it('gives up where no server answers for as long as it was told', async () => {
    const gone = await api.startReplica();
    await gone.stop();
    const following = Array.fromAsync(
      followStream({ baseUrl: gone.url(), token: people.dan.me.token, forSeconds: 0.5 }),
    );
    await expect(following).rejects.toMatchObject({ name: 'NoAnswer' });
  });
});

describe('the inbox for work in a stream', () => {
  const seqsOf = (stream: RawStream) =>
    (stream.eventsNamed('inbox.item') as { seq: number }[]).map(({ seq }) => seq);
  const openInbox = async (who: Person<AllHandlers>, after: number | string) => {
    const query = `?personal=false&inboxAfter=${after}`;
    const stream = await openRaw({ at: api.url(), token: who.me.token, query });
    open.add(stream);
    return stream;
  };
  const mention = (slug: string) => ana.comments.create({ storyId: 'WEB-1', body: `@${slug} look` });

  beforeEach(async () => {
    await ana.stories.create({ projectId: 'WEB', title: 'A story' });
  });

  it('brings what came in before and what comes in, to the agent alone', async () => {
    await mention('robo');
    const robo = await openInbox(people.robo, 0);
    const chloe = await openInbox(people.chloe, 0);
    await waitUntil(() => seqsOf(robo).length === 1);
    await mention('robo');
    await mention('robo');
    await waitUntil(() => seqsOf(robo).length === 3);
    expect(robo.eventsNamed('inbox.item')).toEqual((await people.robo.agents.inbox()).items);
    const later = await openInbox(people.robo, 2);
    await waitUntil(() => seqsOf(later).length === 1);
    expect([seqsOf(robo), seqsOf(later), seqsOf(chloe)]).toEqual([[1, 2, 3], [3], []]);
    expect(robo.eventsNamed('notifications.unread')).toEqual([]);
  });

  it('shows that the agent is listening while the stream is open', async () => {
    const { agentId } = people.robo.me;
    await ana.assignments.set({ targetType: 'story', targetId: 'WEB-1', agentId: agentId ?? '' });
    const until = (state: string) =>
      waitUntil(async () => (await ana.stories.get({ storyId: 'WEB-1' })).agentResponse?.state === state);
    await until('no_runner');
    const robo = await openInbox(people.robo, 0);
    await until('listening');
    robo.close();
    await until('no_runner');
  });

  it.each(['', '-1', 'x', '1.5'])('refuses %j as a position', async (after) => {
    const stream = await openInbox(people.robo, after);
    expect(stream.response.status).toBe(400);
  });
});
