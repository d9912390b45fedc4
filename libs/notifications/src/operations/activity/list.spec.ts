import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type EventKind, eventKinds } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStream, type StreamEntry } from '../../../test/stream.ts';
import { maxScannedEntries } from '../../data/streams.ts';
import { events } from '../events/handlers.ts';
import { activity } from './handlers.ts';

const world = useWorld({ activity, events });

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

const { happen, arrangeStory } = arrangeStream(world, () => people);

type Params = Parameters<PersonOf<typeof world>['activity']['list']>[0];
const seen = async (who: PersonOf<typeof world>, params: Params = {}) =>
  (await who.activity.list(params)).items.map((item) => item.id);

/** Reads all pages and returns the items of each. */
async function readAllPages(who: PersonOf<typeof world>, params: Params) {
  const all = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await who.activity.list({
      ...params,
      ...(cursor !== undefined && { cursor }),
    });
    all.push(items.map((item) => item.id));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

describe('activity.list', () => {
  it('tells what happened as it was said, newest first, in pages that nothing new disturbs', async () => {
    const { projectId, storyId } = await arrangeStory('WEB', 'org');
    const ids = await happen({ by: people.robo, projectId, storyId }, {}, {}, {}, {});
    const first = await people.dan.activity.list({ limit: 2 });
    const [later = ''] = await happen({});
    const second = await people.dan.activity.list({ limit: 2, cursor: first.nextCursor ?? '' });
    const third = await people.dan.activity.list({ limit: 2, cursor: second.nextCursor ?? '' });
    expect([first, second, third].flatMap(({ items }) => items.map((item) => item.id))).toEqual(
      [...ids].reverse(),
    );
    expect(third.nextCursor).toBeNull();
    expect((await seen(people.dan))[0]).toBe(later);
    expect(notificationsRegistry.activity.list.result.parse(third)).toEqual(third);
    expect(third.items[0]).toMatchObject({
      kind: 'story.updated',
      projectId,
      data: { fields: ['title'] },
      actor: {
        kind: 'agent',
        memberId: people.chloe.me.memberId,
        agentId: people.robo.me.agentId,
        name: 'Robo',
      },
      subject: { type: 'story', id: storyId, key: 'WEB-1', title: 'Passkeys' },
    });
  });

  it('shows each what they may see: nothing of private projects, nothing beyond what a token is bound to', async () => {
    const open = await arrangeStory('WEB', 'org');
    const hidden = await arrangeStory('HID', 'private');
    const gone = newId();
    const ids = await happen({}, open, hidden, { projectId: gone });
    const [everywhere = '', inOpen = '', inHidden = '', ofDeleted = ''] = ids;
    expect(await seen(people.ana)).toEqual([...ids].reverse());
    expect(await seen(people.ben)).toEqual([...ids].reverse());
    for (const who of [people.chloe, people.robo, people.dan])
      expect(await seen(who)).toEqual([inOpen, everywhere]);

    const bound = await world.token(people.orgId, people.ana.me.memberId, { projectIds: [hidden.projectId] });
    expect(await seen(bound)).toEqual([inHidden, everywhere]);
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'viewer')`,
      people.orgId,
      hidden.projectId,
      people.dan.me.memberId,
    );
    expect(await seen(people.dan)).toEqual([inHidden, inOpen, everywhere]);
    expect(await seen(people.dan)).not.toContain(ofDeleted);
  });

  it('shows events of budgets only to those who may list the budgets', async () => {
    const { orgId, ana, ben, chloe, robo, dan } = people;
    const web = await arrangeStory('WEB', 'org');
    const app = await arrangeStory('APP', 'org');
    const about = (projectId: string | null, kind: EventKind) => ({ projectId, kind });
    const [ofOrg = '', ofWeb = '', ofApp = '', other = ''] = await happen(
      about(null, 'budget.changed'),
      about(web.projectId, 'budget.warned'),
      about(app.projectId, 'budget.deleted'),
      about(web.projectId, 'story.created'),
    );
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'lead')`,
      orgId,
      web.projectId,
      chloe.me.memberId,
    );
    const writing = await world.token(orgId, ana.me.memberId, { scopes: ['write'] });
    const bound = await world.token(orgId, ana.me.memberId, { projectIds: [web.projectId] });
    const streamed = async (who: PersonOf<typeof world>, params: { projectId?: string } = {}) =>
      (await who.events.list(params)).items.map(({ id }) => id).toReversed();
    for (const [who, everywhere, inWeb] of [
      [ana, [other, ofApp, ofWeb, ofOrg], [other, ofWeb]],
      [ben, [other, ofApp, ofWeb, ofOrg], [other, ofWeb]],
      [writing, [other, ofApp, ofWeb], [other, ofWeb]],
      [chloe, [other, ofWeb], [other, ofWeb]],
      [robo, [other], [other]],
      [bound, [other], [other]],
      [dan, [other], [other]],
    ] as const) {
      expect([await seen(who), await seen(who, { projectId: 'WEB' })]).toEqual([everywhere, inWeb]);
      expect([await streamed(who), await streamed(who, { projectId: 'WEB' })]).toEqual([everywhere, inWeb]);
    }
  });

  it('answers projects and stories that are missing, hidden, of another organization, or not of the token alike', async () => {
    await arrangeStory('WEB', 'org');
    const hidden = await arrangeStory('HID', 'private');
    const foreign = await arrangeStory('AWAY', 'org', (await world.org()).orgId);
    await happen(hidden);
    const open = await arrangeStory('OPEN', 'org');
    const bound = await world.token(people.orgId, people.chloe.me.memberId, { projectIds: [open.projectId] });
    const nowhere = { projectId: newId(), storyId: newId() };
    const answers = { projectId: new Set<string>(), storyId: new Set<string>() };
    const ask = async (who: PersonOf<typeof world>, params: Params) => {
      const answer: unknown = await who.activity.list(params).catch((error: unknown) => error);
      const text = JSON.stringify(answer, (key, value: unknown) => (key === 'requestId' ? '' : value));
      answers[params?.storyId === undefined ? 'projectId' : 'storyId'].add(text);
    };
    for (const { projectId, storyId } of [hidden, foreign, nowhere]) {
      await ask(people.chloe, { projectId });
      await ask(people.chloe, { storyId });
    }
    for (const projectId of ['HID', 'AWAY', 'NONE']) await ask(people.chloe, { projectId });
    for (const storyId of ['HID-7', 'AWAY-7', 'NONE-7', 'WEB-8']) await ask(people.chloe, { storyId });
    await ask(bound, { projectId: 'WEB' });
    await ask(bound, { storyId: 'WEB-7' });
    for (const [path, [answer, ...others]] of Object.entries(answers)) {
      expect(others).toEqual([]);
      expect(answer).toContain('"status":404');
      expect(answer).toContain(`"path":"${path}"`);
    }
  });

  it('filters by project, story, actor, kind and time, each alone and together', async () => {
    const { ana, chloe, robo, dan } = people;
    const web = await arrangeStory('WEB', 'org');
    const app = await arrangeStory('APP', 'org');
    const entries: (StreamEntry & { at: string })[] = [];
    const kinds = ['story.updated', 'comment.created', 'spec.updated'] as const;
    for (let index = 0; index < 120; index += 1) {
      const { projectId, storyId } = index % 2 === 0 ? web : app;
      entries.push({
        kind: kinds[index % 3] ?? 'story.updated',
        by: [ana, chloe, robo, dan][(index >> 1) % 4] ?? ana,
        projectId: index % 10 === 9 ? null : projectId,
        storyId: index % 5 === 0 ? null : index % 10 === 9 ? null : storyId,
        at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
      });
    }
    const ids = await happen(...entries);
    const robots = robo.me.agentId ?? '';
    const since = entries[60]?.at ?? '';
    const filters: Record<string, [Params, (entry: StreamEntry & { at: string }) => boolean]> = {
      project: [{ projectId: 'web' }, (entry) => entry.projectId === web.projectId],
      story: [{ storyId: app.storyId }, (entry) => entry.storyId === app.storyId],
      storyKey: [{ storyId: 'App-7' }, (entry) => entry.storyId === app.storyId],
      member: [{ actorId: chloe.me.memberId }, (entry) => entry.by?.me.memberId === chloe.me.memberId],
      agent: [{ actorId: robots }, (entry) => entry.by?.me.agentId === robots],
      kinds: [{ kinds: ['spec.updated', 'comment.created'] }, (entry) => entry.kind !== 'story.updated'],
      since: [{ since }, (entry) => entry.at >= since],
      nobody: [{ actorId: newId() }, () => false],
    };
    const names = Object.keys(filters);
    for (const one of names) {
      for (const other of names) {
        const [params, fits] = filters[one] ?? [];
        const [more, alsoFits] = filters[other] ?? [];
        const merged = { ...params, ...more };
        // If both filters set the same field, the later one overrides the earlier one.
        const both =
          Object.keys(merged).length < Object.keys({ ...params }).length + Object.keys({ ...more }).length;
        const expected = ids.filter((_, index) => {
          const entry = entries[index];
          return entry !== undefined && alsoFits?.(entry) === true && (both || fits?.(entry) === true);
        });
        const got = await readAllPages(dan, { ...merged, limit: 7 });
        expect({ one, other, got: got.flat() }).toEqual({ one, other, got: expected.reverse() });
      }
    }
  });

  it('finds by time what transactions of different length left out of order', async () => {
    const minute = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
    // The entries have the start times of their transactions, but are in commit order.
    const times = [0, 100, 130, 95, 140, 200, 160, 210, 260].map(minute);
    const ids = await happen(...times.map((at) => ({ at })));
    for (const since of [...times, minute(-5), minute(999)]) {
      expect(await seen(people.dan, { since })).toEqual(
        ids.filter((_, index) => (times[index] ?? '') >= since).reverse(),
      );
    }
  });

  it('looks at so many entries a page at most, and goes on from there', async () => {
    const rare = { kind: 'project.created' } as const;
    // Counted from the newest, the second rare entry is the last one that a page scans.
    const ids = [
      ...(await happen(rare, rare)),
      ...(await happen(...Array.from({ length: maxScannedEntries - 2 }, () => ({})))),
      ...(await happen(rare)),
    ];
    const expected = [ids.at(-1), ids[1], ids[0]];
    const found = await readAllPages(people.ana, { kinds: ['project.created'] });
    expect(found).toEqual([expected.slice(0, 1), expected.slice(1)]);
    expect((await readAllPages(people.dan, { kinds: ['project.created'], limit: 1 })).flat()).toEqual(
      expected,
    );
    expect((await readAllPages(people.dan, { kinds: ['project.deleted'] })).flat()).toEqual([]);
    const all = await readAllPages(people.dan, { limit: 200 });
    expect(all.flat()).toEqual([...ids].reverse());
    expect(all.slice(0, -1).every((page) => page.length === 200)).toBe(true);
  });

  it('takes no cursor that it did not give, and no kind that there is not', async () => {
    await happen({}, {}, {});
    const { nextCursor } = await people.dan.activity.list({ limit: 1 });
    const { cursor: ofEvents } = await people.dan.events.list();
    const other = await world.org();
    const given = String(nextCursor);
    const changed = `${given.startsWith('A') ? 'B' : 'A'}${given.slice(1)}`;
    const bare = Buffer.from('[2]').toString('base64url');
    for (const cursor of ['x', bare, changed, given.slice(0, -4), ofEvents])
      await expect(people.dan.activity.list({ cursor })).rejects.toMatchObject({ status: 400 });
    await expect(other.ana.activity.list({ cursor: given })).rejects.toMatchObject({ status: 400 });
    await expect(people.dan.events.list({ after: given })).rejects.toMatchObject({ status: 400 });
    const kinds = ['story.exploded'] as unknown as typeof eventKinds;
    await expect(people.dan.activity.list({ kinds })).rejects.toMatchObject({ status: 400 });
    expect(await seen(people.dan, { kinds: eventKinds })).toHaveLength(3);
    const pattern = async (kind: 'story.*' | 'epic.*') => {
      const [activity, events] = await Promise.all([
        people.dan.activity.list({ kinds: [kind] }),
        people.dan.events.list({ kinds: [kind] }),
      ]);
      return [activity.items.length, events.items.length];
    };
    expect(await pattern('story.*')).toEqual([3, 3]);
    expect(await pattern('epic.*')).toEqual([0, 0]);
  });

  it('gives cursors that never look the same, and tell nothing of what is hidden', async () => {
    const hidden = await arrangeStory('HID', 'private');
    await happen({}, {});
    const calm = await people.dan.activity.list({ limit: 1 });
    const again = await people.dan.activity.list({ limit: 1 });
    await happen(...Array.from({ length: 300 }, () => hidden), {});
    const busy = await people.dan.activity.list({ limit: 1 });
    const cursors = [calm, again, busy].map(({ nextCursor }) => String(nextCursor));
    expect(new Set(cursors).size).toBe(3);
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1);
    for (const cursor of cursors) expect(Buffer.from(cursor, 'base64url').toString()).not.toMatch(/^\[\d/);
  });
});
