/**
 * Delivery metrics of a project, computed from what operations have recorded. The tests change the recorded
 * times.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { handlers, reactions } from '@muster/operations';
import { registry } from '@muster/registry';
import { type PeopleOf, refusalOf, useWorld } from '@muster/testing';

const world = useWorld(handlers, reactions);

let people: PeopleOf<typeof world>;
let projectId: string;
beforeEach(async () => {
  people = await world.org();
  ({
    project: { id: projectId },
  } = await people.ana.projects.create({ key: 'WEB', name: 'Web' }));
});

/** Runs an action and changes the time that the action recorded to `time`. */
async function runAtTime<Result>(time: string, act: () => Promise<Result>): Promise<Result> {
  const result = await act();
  const now = `now() - interval '1 hour'`;
  for (const change of [
    `activity set at = $2 where at > ${now}`,
    `execution_events set at = $2 where at > ${now}`,
    `comments set created_at = $2 where created_at > ${now}`,
    `stories set completed_at = $2 where completed_at > ${now}`,
  ])
    await world.rows(`update ${change} and org_id = $1`, people.orgId, time);
  return result;
}

const story = async () => (await people.ana.stories.create({ projectId, title: 'A story' })).story.id;
const move = (storyId: string, status: 'ready' | 'in_progress' | 'done' | 'canceled') =>
  people.ana.stories.updateStatus({ storyId, status });
const acquire = async (storyId: string) => {
  const target = { targetType: 'story', targetId: storyId } as const;
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire(target);
  return { executionId: execution.id, leaseToken };
};
const observe = (executionId: string, kind: 'pr_merged' | 'checks_failed', observedAt: string) =>
  people.chloe.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      dedupeKey: `${kind} ${observedAt}`,
      kind,
      number: 7,
      url: 'https://example.com/pull/7',
      observedAt,
    },
  });
const measure = (from: string, to: string) =>
  people.dan.projects.deliveryHealth({ projectId: 'WEB', from, to });
const measureOctober = () => measure('2026-10-05T00:00:00.000Z', '2026-10-26T00:00:00.000Z');

const emptyQuantiles = { count: 0, p50: null, p90: null };
const emptyHealth = {
  leadTime: emptyQuantiles,
  landingGap: emptyQuantiles,
  rework: emptyQuantiles,
  stalledLeases: emptyQuantiles,
  waits: emptyQuantiles,
};
const singleQuantiles = (seconds: number | null) => ({ count: 1, p50: seconds, p90: seconds });
const hour = 3_600;
const day = 24 * hour;

describe('projects.deliveryHealth', () => {
  it('has each week that the span touches, by ISO 8601, with nulls where there is nothing', async () => {
    const answer = await measure('2026-12-30T12:00:00.000Z', '2027-01-04T00:00:00.001Z');
    expect(registry.projects.deliveryHealth.result.parse(answer)).toEqual(answer);
    expect(answer).toEqual({
      weeks: [
        { week: '2026-W53', startsAt: '2026-12-28T00:00:00.000Z', ...emptyHealth },
        { week: '2027-W01', startsAt: '2027-01-04T00:00:00.000Z', ...emptyHealth },
      ],
      totals: emptyHealth,
    });
    expect((await measure('2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z')).weeks).toHaveLength(1);
  });

  it('measures the lead time from the first start until done, each time', async () => {
    const id = await runAtTime('2026-09-01T00:00:00Z', story);
    await runAtTime('2026-10-01T00:00:00Z', () => move(id, 'in_progress'));
    await runAtTime('2026-10-02T00:00:00Z', () => move(id, 'ready'));
    await runAtTime('2026-10-03T00:00:00Z', () => move(id, 'in_progress'));
    await runAtTime('2026-10-06T00:00:00Z', () => move(id, 'done'));
    await runAtTime('2026-10-13T00:00:00Z', () => move(id, 'ready'));
    await runAtTime('2026-10-14T00:00:00Z', () => move(id, 'done'));
    const unbegun = await runAtTime('2026-10-14T00:00:00Z', story);
    await runAtTime('2026-10-15T00:00:00Z', () => move(unbegun, 'done'));
    const { weeks, totals } = await measureOctober();
    expect(weeks.map(({ week, leadTime }) => [week, leadTime])).toEqual([
      ['2026-W41', singleQuantiles(5 * day)],
      ['2026-W42', { count: 2, p50: 13 * day, p90: 13 * day }],
      ['2026-W43', emptyQuantiles],
    ]);
    expect(totals.leadTime).toEqual({ count: 3, p50: 9 * day, p90: 5 * day + 0.9 * 8 * day });
    expect(totals.rework).toEqual(singleQuantiles(7 * day));
    expect((await measure('2026-10-06T00:00:00Z', '2026-10-14T00:00:00Z')).totals.leadTime).toEqual(
      singleQuantiles(5 * day),
    );
    expect((await measure('2026-10-06T00:00:00.001Z', '2026-10-14T00:00:00Z')).totals.leadTime).toEqual(
      emptyQuantiles,
    );
  });

  it('begins the lead time with the first execution where that came first', async () => {
    const id = await runAtTime('2026-10-01T00:00:00Z', story);
    await runAtTime('2026-10-05T00:00:00Z', () => acquire(id));
    await runAtTime('2026-10-05T06:00:00Z', () => move(id, 'in_progress'));
    await runAtTime('2026-10-06T00:00:00Z', () => move(id, 'done'));
    expect((await measureOctober()).totals.leadTime).toEqual(singleQuantiles(day));
  });

  it('measures from done until merged, in the week of the later of the two', async () => {
    const late = await runAtTime('2026-10-01T00:00:00Z', story);
    const { executionId } = await runAtTime('2026-10-01T01:00:00Z', () => acquire(late));
    await runAtTime('2026-10-06T00:00:00Z', () => move(late, 'done'));
    expect((await measureOctober()).totals.landingGap).toEqual(emptyQuantiles);
    await runAtTime('2026-10-13T06:00:00Z', () =>
      observe(executionId, 'pr_merged', '2026-10-13T00:00:00.000Z'),
    );
    const early = await runAtTime('2026-10-01T00:00:00Z', story);
    const held = await runAtTime('2026-10-01T01:00:00Z', () => acquire(early));
    await people.ana.policy.update({ completeStoryOnMerge: false });
    await runAtTime('2026-10-19T00:00:00Z', () =>
      observe(held.executionId, 'pr_merged', '2026-10-19T00:00:00.000Z'),
    );
    expect((await measureOctober()).totals.landingGap).toEqual(singleQuantiles(7 * day));
    await runAtTime('2026-10-20T00:00:00Z', () => move(early, 'done'));
    expect((await measureOctober()).weeks.map(({ landingGap }) => landingGap)).toEqual([
      emptyQuantiles,
      singleQuantiles(7 * day),
      singleQuantiles(0),
    ]);
  });

  it('counts as rework what is sent back once it was handed in, once each time', async () => {
    const id = await runAtTime('2026-10-05T00:00:00Z', story);
    const held = await runAtTime('2026-10-05T01:00:00Z', () => acquire(id));
    await runAtTime('2026-10-05T02:00:00Z', () =>
      observe(held.executionId, 'checks_failed', '2026-10-05T02:00:00.000Z'),
    );
    await runAtTime('2026-10-05T03:00:00Z', () =>
      people.chloe.deliveryExecutions.complete({
        ...held,
        outcome: 'submitted',
        pullRequest: { number: 7, url: 'https://example.com/pull/7' },
      }),
    );
    expect((await measureOctober()).totals.rework).toEqual(emptyQuantiles);
    await runAtTime('2026-10-05T05:00:00Z', () =>
      observe(held.executionId, 'checks_failed', '2026-10-05T05:00:00.000Z'),
    );
    await runAtTime('2026-10-05T09:00:00Z', () =>
      observe(held.executionId, 'checks_failed', '2026-10-05T09:00:00.000Z'),
    );
    expect((await measureOctober()).totals.rework).toEqual(singleQuantiles(2 * hour));
    await runAtTime('2026-10-06T00:00:00Z', () => move(id, 'done'));
    await runAtTime('2026-10-06T01:00:00Z', () => move(id, 'ready'));
    expect((await measureOctober()).totals.rework).toMatchObject({ count: 2, p50: 1.5 * hour });
  });

  it('counts leases that expired, and how long until the work went on', async () => {
    const id = await runAtTime('2026-10-05T00:00:00Z', story);
    const held = await runAtTime('2026-10-05T01:00:00Z', () => acquire(id));
    await runAtTime('2026-10-06T00:00:00Z', async () =>
      world.rows(
        `with s as (update streams set activity = activity + 1 where org_id = $1 returning activity)
         insert into activity (org_id, seq, id, kind, actor, project_id, story_id, subject, data)
         select $1, s.activity, $2, 'lease.expired', '{}', $3, $4, jsonb_build_object('type', 'story', 'id', $4::uuid),
           jsonb_build_object('executionId', $5::uuid) from s`,
        ...[people.orgId, newId(), projectId, id, held.executionId],
      ),
    );
    expect((await measureOctober()).totals.stalledLeases).toEqual(singleQuantiles(null));
    await runAtTime('2026-10-06T01:00:00Z', () =>
      people.ana.comments.create({ storyId: id, body: 'Is it alive?' }),
    );
    await runAtTime('2026-10-06T03:00:00Z', () =>
      people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' }),
    );
    expect((await measureOctober()).weeks.map(({ stalledLeases }) => stalledLeases)).toEqual([
      singleQuantiles(3 * hour),
      emptyQuantiles,
      emptyQuantiles,
    ]);
  });

  it('measures how long questions were open', async () => {
    const storyId = await runAtTime('2026-10-05T00:00:00Z', story);
    const say = async (kind: 'question' | 'comment') =>
      (await people.ana.comments.create({ storyId, body: 'Well?', kind })).comment.id;
    const question = await runAtTime('2026-10-05T00:00:00Z', () => say('question'));
    const remark = await runAtTime('2026-10-05T00:00:00Z', () => say('comment'));
    await runAtTime('2026-10-05T04:00:00Z', () => people.ana.comments.resolve({ commentId: remark }));
    await runAtTime('2026-10-05T06:00:00Z', () => people.ana.comments.resolve({ commentId: question }));
    expect((await measureOctober()).totals.waits).toEqual(singleQuantiles(6 * hour));
  });

  it('is of this project alone', async () => {
    const other = await people.ana.projects.create({ key: 'APP', name: 'App' });
    const { story: elsewhere } = await people.ana.stories.create({
      projectId: other.project.id,
      title: 'Elsewhere',
    });
    await runAtTime('2026-10-06T00:00:00Z', () => move(elsewhere.id, 'done'));
    expect((await measureOctober()).totals).toEqual(emptyHealth);
  });

  it('refuses a span that is none, or more than 366 days', async () => {
    const from = '2026-01-01T00:00:00.000Z';
    for (const [begin, end] of [
      [from, from],
      ['2026-01-02T00:00:00.000Z', from],
      [from, '2027-01-02T00:00:00.001Z'],
    ] as const)
      expect(await refusalOf(measure(begin, end))).toMatchObject({
        code: 'bad_request',
        details: { issues: [{ path: 'to' }] },
      });
    expect((await measure(from, '2027-01-02T00:00:00.000Z')).weeks).toHaveLength(53);
    await expect(measure(from, 'tomorrow')).rejects.toMatchObject({ code: 'bad_request' });
  });
});
