/**
 * Tests that an import that is killed at any of its calls, and run again, ends like one that was never
 * killed.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { type ForwardedRequest, openForwarder } from './forwarder.ts';
import { useMuster } from './muster.ts';

const muster = useMuster();

const stories = 401;
/** The calls of one import. Each call of `put` has at most 200 items. */
const calls = [
  { path: '/api/imports/begin', nth: 1 },
  { path: '/api/imports/put', nth: 1 },
  { path: '/api/imports/put', nth: 2 },
  { path: '/api/imports/put', nth: 3 },
  { path: '/api/imports/finish', nth: 1 },
];
const kills: readonly ForwardedRequest[] = calls.flatMap((call) => [
  { ...call, what: 'question' as const },
  { ...call, what: 'answer' as const },
]);

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
});

const at = '2024-03-01T10:00:00.000Z';
const issues = JSON.stringify(
  Array.from({ length: stories }, (_, place) => ({
    ...{ identifier: `WEB-${place}`, title: `Story ${place}`, state: { name: 'Todo' }, createdAt: at },
    project: place % 50 === 0 ? { name: `Epic ${place % 4}` } : null,
    inverseRelations: {
      nodes: place % 3 === 0 ? [{ type: 'blocks', issue: { identifier: `WEB-${stories - 1}` } }] : [],
    },
    comments: {
      nodes: place % 40 === 0 ? [{ id: `c${place}`, body: 'Hm', createdAt: at, user: { name: 'Zed' } }] : [],
    },
  })),
);

/** Returns the contents of a project that an import writes, without ids. */
async function contentOf(key: string) {
  const client = muster.apiClient(people.chloe);
  const { items: epics } = await client.epics.list({ projectId: key, limit: 200 });
  const found = [];
  for await (const story of client.stories.list.all({ projectId: key, limit: 200 })) found.push(story);
  const titles = new Map([...found, ...epics].map(({ id, title }) => [id, title]));
  const comments = await Promise.all(
    found.map(async ({ id, number }) => {
      if ((number - 1) % 40 !== 0) return [];
      const { items } = await client.comments.list({ storyId: id });
      return items.map(({ author, body, createdAt }) => [author.name, body, createdAt]);
    }),
  );
  return found.map(({ number, title, status, epicId, blockedBy, createdAt, version }, place) => ({
    ...{ number, title, status, createdAt, version, comments: comments[place] },
    epic: epicId === null ? null : titles.get(epicId),
    blockedBy: blockedBy.map((id) => titles.get(id)),
  }));
}

it('is one import, whichever call it was killed at, before or after that was done', async () => {
  const client = muster.apiClient(people.chloe);
  for (const key of ['ONCE', 'CUT']) await client.projects.create({ key, name: key });
  const file = path.join(muster.home(), 'issues.json');
  await writeFile(file, issues);
  const run = (key: string) =>
    muster.runAs(people.chloe, 'import', 'linear', file, '--project', key, '--json');
  expect(await run('ONCE')).toMatchObject({ code: 0, err: '' });
  const once = await contentOf('ONCE');
  expect(once).toHaveLength(stories);
  expect(once.filter(({ blockedBy }) => blockedBy.length === 1)).toHaveLength(134);
  expect(once.flatMap(({ comments }) => comments)).toHaveLength(11);

  const forwarder = await openForwarder(muster.url());
  const env = { MUSTER_BASE_URL: forwarder.url, MUSTER_TOKEN: people.chloe.me.token };
  for (const kill of kills) {
    const kept = forwarder.keep(kill);
    const child = muster.start(['import', 'linear', file, '--project', 'CUT'], { env });
    await kept;
    child.kill('SIGKILL');
    expect(await child.exitCode).toBeNull();
  }
  await forwarder.goOffline();

  const { code, out } = await run('CUT');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ created: 0, unchanged: stories, kept: [], refused: [] });
  expect(await contentOf('CUT')).toEqual(once);
  // The older import created all stories and was killed during its last call. The newest import found nothing
  // to do.
  const { items } = await client.imports.list({ projectId: 'CUT' });
  expect(items.map(({ state, counts }) => [state, counts.created])).toEqual([
    ['finished', 0],
    ['finished', stories],
  ]);
});
