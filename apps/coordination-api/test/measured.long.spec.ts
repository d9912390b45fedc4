/**
 * Bytes that Postgres reads for a page. A number such as 1e300 has six characters in a request and 301 in
 * Postgres, so small input can be large to read. Pages therefore have a limit of bytes read, and later pages
 * contain the rest.
 */
import { beforeAll, expect, it } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { createOrgWithStory, target } from './one-story.ts';

const api = useApi();
const { world } = api;
const count = 6;
const numbered = Array.from({ length: count }, (_, index) => `n${index}`);
/** Parameters that take about 14 KB in the request. Postgres reads them as about 600 KB. */
const numbers = { numbers: Array.from({ length: 2_000 }, () => 1e300) };

let people: People<AllHandlers>;
let executionId: string;
beforeAll(async () => {
  people = await createOrgWithStory(api);
  const { ana, chloe, orgId } = people;
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire(target);
  executionId = execution.id;
  for (const name of numbered) {
    await chloe.deliveryExecutions.checkpoint({ executionId, leaseToken, summary: name });
    await chloe.agents.runEvent({ runId: name, kind: 'progress', projectId: 'WEB', data: numbers });
    const agent = { slug: name, version: '1.0.0', name, description: '', content: 'x', tags: [] };
    await ana.agents.catalog.publish({ ...agent, manifest: numbers });
    const { story } = await ana.stories.create({ projectId: 'WEB', title: name });
    const { group } = await ana.deliveryGroups.create({ projectId: 'WEB', name, storyIds: [story.id] });
    const worked = await chloe.deliveryExecutions.acquire({
      targetType: 'delivery_group',
      targetId: group.id,
    });
    const ofGroup = { executionId: worked.execution.id, leaseToken: worked.leaseToken };
    await chloe.deliveryExecutions.checkpoint({ ...ofGroup, summary: name, data: numbers });
    await chloe.deliveryExecutions.release(ofGroup);
    const lease = await chloe.deliveryGroups.acquireLease({ groupId: group.id, runId: name });
    const grip = { groupId: group.id, leaseToken: lease.leaseToken };
    await chloe.deliveryGroups.checkpoint({ ...grip, summary: name, data: numbers });
  }
  for (const table of ['activity', 'execution_events'])
    await world.rows(`update ${table} set data = $2 where org_id = $1`, orgId, JSON.stringify(numbers));
});

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

const lists: [string, (place: { limit: number; cursor?: string }) => Promise<Page>][] = [
  ['activity.list', (place) => people.dan.activity.list(place)],
  ['agents.listActive', (place) => people.dan.agents.listActive(place)],
  ['agents.catalog.list', (place) => people.dan.agents.catalog.list({ ...place, includeManifest: true })],
  ['deliveryExecutions.list', (place) => people.dan.deliveryExecutions.list(place)],
  ['deliveryGroups.list', (place) => people.dan.deliveryGroups.list({ ...place, projectId: 'WEB' })],
];

it.each(lists)('%s reads little for a page, and leaves out nothing on the way', async (_name, list) => {
  const shown: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await list({ limit: 200, ...(cursor !== undefined && { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(3);
    shown.push(...page.items);
    cursor = page.nextCursor;
  }
  expect(shown.length).toBeGreaterThanOrEqual(count);
  const single: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await list({ limit: 1, ...(cursor !== undefined && { cursor }) });
    single.push(...page.items);
    cursor = page.nextCursor;
  }
  expect(shown).toEqual(single);
});

it('eventsSince reads little at once, and goes on from the last that it showed', async () => {
  const seen: number[] = [];
  for (let afterSeq = 0; ;) {
    const { items, lastSeq } = await people.dan.deliveryExecutions.eventsSince({
      ...{ executionId, afterSeq, limit: 200 },
    });
    expect(items.length).toBeLessThanOrEqual(3);
    expect(lastSeq).toBe(items.at(-1)?.seq ?? afterSeq);
    if (items.length === 0) break;
    seen.push(...items.map(({ seq }) => seq));
    afterSeq = lastSeq;
  }
  expect(seen.length).toBeGreaterThan(count);
  expect(seen).toEqual(seen.map((_, index) => index + 1));
});

it('eventsSince is cut at 1 MiB, and goes on from there', async () => {
  const { dan, orgId } = people;
  const long = JSON.stringify({ summary: 'x'.repeat(300_000) });
  await world.rows('update execution_events set data = $2 where org_id = $1', orgId, long);
  const first = await dan.deliveryExecutions.eventsSince({ executionId, limit: 200 });
  expect([first.items.length, first.lastSeq]).toEqual([3, 3]);
  const next = await dan.deliveryExecutions.eventsSince({ executionId, limit: 200, afterSeq: first.lastSeq });
  expect(next.items[0]?.seq).toBe(4);
});
