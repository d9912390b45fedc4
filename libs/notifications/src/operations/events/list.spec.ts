import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStream } from '../../../test/stream.ts';
import { createEventCursors } from '../../data/event-cursors.ts';
import { maxScannedEntries } from '../../data/streams.ts';
import { events } from './handlers.ts';

const world = useWorld({ events });

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});
const { happen, arrangeStory } = arrangeStream(world, () => people);

type Params = Parameters<PersonOf<typeof world>['events']['list']>[0];
const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

/** Reads all entries after a position of the stream, in pages of `limit` items. */
async function readAllPages(who: PersonOf<typeof world>, { after, ...params }: Params & { limit: number }) {
  const seen = [];
  let place = after;
  for (;;) {
    const page = await who.events.list({ ...params, ...(place !== undefined && { after: place }) });
    seen.push(...page.items);
    if (page.items.length === 0) return { seen, cursor: page.cursor };
    place = page.cursor;
  }
}

describe('events.list', () => {
  it('walks from the oldest event to the newest, and goes on from its cursor', async () => {
    const written = await happen({}, { by: people.robo }, {}, {}, {});
    const first = await readAllPages(people.dan, { limit: 2 });
    expect(ids(first.seen)).toEqual(written);
    expect(notificationsRegistry.events.list.result.shape.items.parse(first.seen)).toEqual(first.seen);

    const later = await happen({}, {});
    expect(ids((await people.dan.events.list({ after: first.cursor })).items)).toEqual(later);
  });

  it('goes on from any event that it showed', async () => {
    const written = await happen({}, {}, {}, {});
    const { items } = await people.dan.events.list();
    for (const [index, { cursor }] of items.entries())
      expect(ids((await people.dan.events.list({ after: cursor })).items)).toEqual(written.slice(index + 1));
  });

  it('begins now where the caller says so', async () => {
    await happen({}, {});
    const now = await people.dan.events.list({ after: 'latest' });
    expect(now.items).toEqual([]);
    const later = await happen({});
    expect(ids((await people.dan.events.list({ after: now.cursor })).items)).toEqual(later);
  });

  it('shows each caller what it may see at the time of the call', async () => {
    const open = await arrangeStory('WEB', 'org');
    const hidden = await arrangeStory('HID', 'private');
    const [everywhere = '', inOpen = '', inHidden = '', ofDeleted = ''] = await happen({}, open, hidden, {
      projectId: newId(),
    });
    const seen = async (who: PersonOf<typeof world>) => ids((await who.events.list()).items);
    expect(await seen(people.ana)).toEqual([everywhere, inOpen, inHidden, ofDeleted]);
    expect(await seen(people.dan)).toEqual([everywhere, inOpen]);
    const bound = await world.token(people.orgId, people.ana.me.memberId, { projectIds: [hidden.projectId] });
    expect(await seen(bound)).toEqual([everywhere, inHidden]);

    const { cursor } = await people.dan.events.list();
    const [later = ''] = await happen(hidden);
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'viewer')`,
      people.orgId,
      hidden.projectId,
      people.dan.me.memberId,
    );
    expect(ids((await people.dan.events.list({ after: cursor })).items)).toEqual([later]);
  });

  it('filters by project and kind, and its cursor is good for any filter', async () => {
    const web = await arrangeStory('WEB', 'org');
    const app = await arrangeStory('APP', 'org');
    const kinds = ['story.updated', 'comment.created', 'spec.updated'] as const;
    const entries = Array.from({ length: 30 }, (_, n) => ({
      ...(n % 2 === 0 ? web : app),
      kind: kinds[n % 3] ?? 'story.updated',
    }));
    const written = await happen(...entries);
    const fitting = (fits: (entry: (typeof entries)[number]) => boolean) =>
      written.filter((_, n) => fits(entries[n] as (typeof entries)[number]));
    const inWeb = (entry: { projectId: string }) => entry.projectId === web.projectId;

    for (const projectId of ['WEB', 'web', web.projectId])
      expect(ids((await readAllPages(people.dan, { projectId, limit: 4 })).seen)).toEqual(fitting(inWeb));
    const wanted: Params = { projectId: 'WEB', kinds: ['comment.created', 'spec.updated'] };
    expect(ids((await readAllPages(people.dan, { ...wanted, limit: 4 })).seen)).toEqual(
      fitting((entry) => inWeb(entry) && entry.kind !== 'story.updated'),
    );
    const [, , third] = (await people.dan.events.list({ projectId: 'WEB' })).items;
    const after = third?.cursor ?? '';
    expect(ids((await people.dan.events.list({ after, projectId: 'APP' })).items)).toEqual(
      fitting((entry) => !inWeb(entry)).slice(2),
    );
  });

  it('answers a project that is missing, hidden or of another organization alike', async () => {
    await arrangeStory('HID', 'private');
    await arrangeStory('AWAY', 'org', (await world.org()).orgId);
    const answers = new Set<string>();
    for (const projectId of ['HID', 'AWAY', 'NONE', newId()]) {
      const answer: unknown = await people.chloe.events.list({ projectId }).catch((error: unknown) => error);
      answers.add(JSON.stringify(answer, (key, value: unknown) => (key === 'requestId' ? '' : value)));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain('"status":404');
  });

  it('looks at so many events at most, and goes on from there', async () => {
    const hidden = await arrangeStory('HID', 'private');
    const [first = ''] = await happen({});
    await happen(...Array.from({ length: maxScannedEntries + 10 }, () => hidden));
    const [last = ''] = await happen({});
    const { items, cursor } = await people.dan.events.list();
    expect(ids(items)).toEqual([first]);
    expect(ids((await people.dan.events.list({ after: cursor })).items)).toEqual([last]);
  });
});

describe('the cursor of an event', () => {
  it('never looks the same twice, and tells nothing of what is hidden', async () => {
    const hidden = await arrangeStory('HID', 'private');
    const calm = await people.dan.events.list();
    const again = await people.dan.events.list();
    await happen(...Array.from({ length: 300 }, () => hidden));
    const busy = await people.dan.events.list();
    const cursors = [calm, again, busy].flatMap(({ cursor, oldest }) => [cursor, oldest]);
    expect(new Set(cursors).size).toBe(cursors.length);
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1);
    expect(busy.items).toEqual([]);
  });

  it('is refused where it was made up, changed, or given out by another organization', async () => {
    await happen({});
    const { cursor } = await people.dan.events.list();
    const foreign = await (await world.org()).ana.events.list();
    const changed = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`;
    for (const after of ['x', 'WzFd', '1', changed, cursor.slice(0, -4), foreign.cursor])
      await expect(people.dan.events.list({ after })).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'after' }] } },
      });
  });

  it('is one that only its key opens', () => {
    const [one, other] = [createEventCursors(Buffer.alloc(32, 1)), createEventCursors(Buffer.alloc(32, 2))];
    for (const seq of [0, 1, 2 ** 40]) expect(one.decode(one.encode(seq))).toBe(seq);
    expect(() => other.decode(one.encode(1))).toThrow('the cursor does not belong to this list');
  });

  it('is told to be too old once events that come after it are gone', async () => {
    const before = await people.dan.events.list();
    await happen({}, {}, {}, {});
    const [, second] = (await people.dan.events.list()).items;
    await world.rows('delete from activity where org_id = $1 and seq <= 2', people.orgId);
    await expect(people.dan.events.list({ after: before.cursor })).rejects.toThrow('are no longer available');
    const { items, oldest } = await people.dan.events.list();
    expect(items).toHaveLength(2);
    for (const after of [second?.cursor ?? '', oldest])
      expect(ids((await people.dan.events.list({ after })).items)).toEqual(ids(items));

    await world.rows('delete from activity where org_id = $1', people.orgId);
    await expect(people.dan.events.list({ after: oldest })).rejects.toThrow('are no longer available');
    const empty = await people.dan.events.list();
    expect((await people.dan.events.list({ after: empty.oldest })).items).toEqual([]);
  });
});

describe('events.list that waits', () => {
  /** Waits longer than two polls of the stream take. */
  const looksPass = () => pause(600);
  /** A call that was woken answers before a call that only waits for its timeout. */
  const untilTimeIsOver = async () => {
    const elsewhere = await world.org();
    return elsewhere.ana.events.list({ after: 'latest', waitSeconds: 20 }).then(() => 'the time is over');
  };

  it('answers as soon as there is an event', async () => {
    const { cursor } = await people.dan.events.list();
    const call = people.dan.events.list({ after: cursor, waitSeconds: 25 });
    const late = untilTimeIsOver();
    await looksPass();
    const written = await happen({});
    expect(await Promise.race([call.then(({ items }) => ids(items)), late])).toEqual(written);
  });

  // A call that is woken by mistake would answer without an event.
  it('is woken by nothing that the caller may not see or did not ask for', async () => {
    const hidden = await arrangeStory('HID', 'private');
    const web = await arrangeStory('WEB', 'org');
    const app = await arrangeStory('APP', 'org');
    const { cursor } = await people.dan.events.list({ after: 'latest' });
    const wait = (params: Params) => people.dan.events.list({ ...params, after: cursor, waitSeconds: 25 });
    const anything = wait({});
    const specs = wait({ projectId: 'WEB', kinds: ['spec.updated'] });
    const late = untilTimeIsOver();
    await looksPass();
    await happen(hidden);
    await looksPass();
    const seen = await happen(app, web);
    expect(ids((await anything).items)).toEqual(seen);
    const wanted = await happen({ ...web, kind: 'spec.updated' });
    expect(await Promise.race([specs.then(({ items }) => ids(items)), late])).toEqual(wanted);
  });

  it('answers with a cursor when the time is over', async () => {
    const { cursor } = await people.dan.events.list({ after: 'latest' });
    const late = await people.dan.events.list({ after: cursor, waitSeconds: 1 });
    expect(late.items).toEqual([]);
    const written = await happen({});
    expect(ids((await people.dan.events.list({ after: late.cursor })).items)).toEqual(written);
  });
});
