/**
 * Delivers the webhook events of many pull requests concurrently, as GitHub would. A `life` is the course of
 * one pull request, and each life has its own order of events. Events come repeatedly, late or several at a
 * time. The work is named and submitted at any moment before the merge. All lives must end with an equal
 * result. In some lives a token reports the merge before the forge does, which must not land the work.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, MusterError } from '@muster/client';
import {
  type GithubEvent,
  type PullRequestExample,
  pullUrl,
  lifecycleEvents,
  timeAfterSeconds,
} from '@muster/testing/github';
import { Dice } from '@muster/tools';
import { without } from '../guards.ts';
import { property, type RunProperty } from '../property.ts';
import { countOf } from '../services.ts';
import { comesToBe, openSite, type Site } from '../site.ts';

interface Extent {
  readonly lives: number;
  /** In one of this many lives a token reports the merge before the forge does. */
  readonly reportEveryNth: number;
}

const livesAtOnce = 8;
const repositories = 8;
const mostAtOnce = 3;
const mostDelayMillis = 40;
const settledWithinMillis = 600_000;

interface Forge {
  readonly url: string;
  readonly secret: string;
}

interface Course {
  readonly site: Site;
  readonly api: Client;
  readonly forge: Forge;
  readonly counts: { deliveries: number; reports: number };
}

const numberOf = (nth: number): number => 10_000 + nth;
const shaOf = (letter: 'a' | 'b', number: number): string => number.toString(16).padStart(40, letter);
const repositoryOf = (nth: number) => {
  const name = `acme/api-${nth % repositories}`;
  return {
    ...{ id: 4_711 + (nth % repositories), html_url: `https://github.com/${name}` },
    ...{ full_name: name, default_branch: 'main' },
  };
};
const lifeOf = (nth: number): PullRequestExample => ({
  ...{ repository: repositoryOf(nth), number: numberOf(nth), branch: `topic-${numberOf(nth)}` },
  ...{ base: 'main', title: 'Land it', body: null },
});

const run: RunProperty<Extent> = async (
  { seed, services },
  { lives, reportEveryNth: oneReportedOf },
  removals,
) => {
  const dice = new Dice(seed);
  const site = await openSite(services, { people: 1, removals });
  await site.startWorker();
  const { ana: api } = site;
  const [copy] = site.copies;
  await api.policy.update({ requireMergeProof: true, mergeProof: 'verified' });
  const { connection, setup } = await api.forges.connect({ kind: 'github' });
  for (let nth = 0; nth < repositories; nth += 1) {
    const { id } = repositoryOf(nth);
    await api.forges.repositories.link({
      ...{ projectId: site.projectId, connectionId: connection.id, externalId: String(id) },
    });
  }
  const forge = { url: `${copy.api.url}${new URL(setup.webhookUrl).pathname}`, secret: setup.secret };
  const course: Course = { site, api, forge, counts: { deliveries: 0, reports: 0 } };
  const wrong: string[] = [];
  const nths = Array.from({ length: lives }, (_, nth) => nth).values();
  const liveOn = async (): Promise<void> => {
    const mine = dice.another();
    for (const nth of nths)
      wrong.push(...(await live(course, mine, { nth, isReported: nth % oneReportedOf === 1 })));
  };
  await Promise.all(Array.from({ length: livesAtOnce }, liveOn));
  const settled = await comesToBe(() => isSettled(site), settledWithinMillis);
  return {
    violations: [
      ...wrong,
      ...(settled ? [] : ['deliveries were not read within ten minutes']),
      ...(await otherEnds(site, lives)),
    ],
    figures: {
      ...{ lives, deliveries: course.counts.deliveries },
      'merges that a token reported': course.counts.reports,
    },
  };
};

async function deliver({ forge, counts }: Course, { event, payload }: GithubEvent): Promise<void> {
  counts.deliveries += 1;
  const body = JSON.stringify(payload);
  const answer = await fetch(forge.url, {
    ...{ method: 'POST', body },
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': `prove ${counts.deliveries}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', forge.secret).update(body).digest('hex')}`,
    },
  });
  if (answer.status !== 202) throw new Error(`a delivery was answered ${answer.status}`);
}

/**
 * Shuffles the events of a pull request's life and repeats some. The first life stays in order, as the
 * reference.
 */
const orderOf = (events: readonly GithubEvent[], dice: Dice, nth: number): GithubEvent[] =>
  nth === 0 ? [...events] : dice.shuffle([...events, ...events.filter(() => dice.between(0, 1) === 1)]);

/** Plays one execution and its pull request until all events are delivered. Returns the violations. */
async function live(
  course: Course,
  dice: Dice,
  { nth, isReported }: { readonly nth: number; readonly isReported: boolean },
): Promise<string[]> {
  const { api, site } = course;
  const life = lifeOf(nth);
  const events = lifecycleEvents(life, shaOf('a', life.number), shaOf('b', life.number));
  const merge = events.at(-1);
  const drawn = orderOf(events, dice, nth);
  // If a token reports the merge, the forge's own event comes last.
  const order = isReported ? [...drawn.filter((one) => one !== merge), ...events.slice(-1)] : drawn;
  const mergedAt = order.findIndex((one) => one === merge);
  const handedInAt = dice.between(0, mergedAt);
  const namedAt = dice.between(0, handedInAt);

  const { story } = await api.stories.create({
    ...{ projectId: site.projectId, title: `Life ${nth}`, status: 'in_progress' },
  });
  const { execution, leaseToken } = await api.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.id, runId: `life ${nth}` },
  });
  const held = { executionId: execution.id, leaseToken };
  const wrong: string[] = [];
  for (let at = 0; at <= order.length;) {
    if (at === namedAt) await api.deliveryExecutions.update({ ...held, git: { branch: life.branch } });
    if (at === handedInAt) {
      const pullRequest = { number: life.number, url: pullUrl(life) };
      await api.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest });
    }
    if (at === mergedAt && isReported)
      wrong.push(...(await report(course, held.executionId, story.id, life)));
    // Delivers several events at the same time, but none beyond the next step of this pull request's life.
    const until = [namedAt, handedInAt, mergedAt, order.length].filter((stop) => stop > at);
    const most = Math.min(mostAtOnce, ...until.map((stop) => stop - at));
    const together = at === order.length ? 1 : dice.between(1, most);
    await Promise.all(order.slice(at, at + together).map((one) => deliver(course, one)));
    at += together;
    if (nth > 0) await pause(dice.between(0, mostDelayMillis));
  }
  return wrong;
}

/**
 * Reports the merge with a token and then tries to complete the story. Returns a violation if the story is
 * completed.
 */
async function report(
  { api, counts }: Course,
  executionId: string,
  storyId: string,
  life: PullRequestExample,
): Promise<string[]> {
  counts.reports += 1;
  await api.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      ...{ dedupeKey: `report ${life.number}`, kind: 'pr_merged', number: life.number },
      ...{ url: pullUrl(life), observedAt: timeAfterSeconds(11) },
    },
  });
  try {
    await api.stories.updateStatus({ storyId, status: 'done' });
    return [`life ${life.number} was done by the word of a token`];
  } catch (error) {
    if (error instanceof MusterError && error.reason === 'policy') return [];
    throw error;
  }
}

const isSettled = async ({ database, orgId }: Site): Promise<boolean> =>
  (await countOf(database.owner, `outbox where org_id = $1 and topic like 'forge.%' and done_at is null`, [
    orgId,
  ])) === 0;

/** Compares the final state of each execution with that of the first one. Reports those that differ. */
async function otherEnds({ database, orgId }: Site, lives: number): Promise<string[]> {
  const { rows } = await database.owner.query<{ nth: number; end: string }>(
    `select substr(s.title, 6)::int as nth, jsonb_build_object('state', e.state, 'outcome', e.outcome,
       'needsRework', e.needs_rework, 'git', e.git, 'forge', e.forge, 'status', s.status)::text as end
     from executions e join stories s on s.org_id = e.org_id and s.id = e.target_id
     where e.org_id = $1 order by 1`,
    [orgId],
  );
  const ends = rows.map(({ nth, end }) => {
    const number = numberOf(nth);
    return end
      .replaceAll(shaOf('a', number), 'a')
      .replaceAll(shaOf('b', number), 'b')
      .replaceAll(repositoryOf(nth).full_name, 'acme/api')
      .replaceAll(String(number), '1');
  });
  const [first = ''] = ends;
  const others = ends.filter((end) => end !== first);
  const isWanted =
    first.includes('"state": "completed"') && first.includes('"status": "done"') && ends.length === lives;
  return [
    ...(isWanted ? [] : [`the life in order ended as ${first}, one of ${ends.length}`]),
    ...(others.length > 0
      ? [`${others.length} of ${lives} lives ended otherwise: ${others[0] ?? ''}, not ${first}`]
      : []),
  ];
}

export const forge = property<Extent>({
  name: 'forge',
  promise:
    'What a forge signs about a pull request leads to the same result in any order, doubled, late and at once, and no token lands work by reporting it merged.',
  short: { lives: 16, reportEveryNth: 4 },
  long: { lives: 1_000, reportEveryNth: 10 },
  run,
  controls: [
    {
      name: 'the report of a token is stored as verified by the forge',
      leftTo: 'nx long',
      extent: { lives: 4, reportEveryNth: 2 },
      without: [
        without('a token reports, and verifies nothing', (trust) => `coalesce('verified', ${trust}::text)`),
      ],
    },
  ],
});
