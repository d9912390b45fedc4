import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { pathOf } from '@muster/contract';
import { type BenchOrg, makeOrg } from './data.ts';
import { fillUp } from './growth-fill.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort, measure, type Sample } from './measure.ts';
import { type Summary, summarize } from './report.ts';
import { type Services } from './services.ts';
import { works } from './works.ts';

const small = 1_000;
const connections = 8;
/**
 * The number of connections that write. Each works on its own stories, and a project begins with 90 stories
 * in its backlog.
 */
const writers = 4;
const ids = 512;

/**
 * Measures a project with 1,000 stories and the same project with `large` stories, each in its own database
 * on one server.
 */
export async function measureGrowth(
  services: Services,
  { rounds, seconds, say }: Effort,
  { only, large }: { readonly only: readonly string[] | undefined; readonly large: number },
): Promise<Summary[]> {
  const postgres = await services.postgres();
  const main = await services.bundle();
  const sideOf = async (stories: number): Promise<BoardUnderTest> => {
    say(`Making a project of ${stories.toLocaleString('en-US')} stories`);
    const admin = createPool({ url: postgres.url, role: null, max: 1 });
    await admin.query(`create database growth_${stories}`);
    await admin.end();
    const url = new URL(postgres.url);
    url.pathname = `/growth_${stories}`;
    await migrate(url.href);
    const api = await services.api(main, url.href);
    const owner = createPool({ url: url.href, role: null, max: 1 });
    const org = await makeOrg(owner, api.url, 'growth', 0, 'admin');
    await fillUp(url.href, org, stories);
    const { rows } = await owner.query<{ id: string }>(
      'select id from stories where project_id = $1 order by number desc limit $2',
      [org.still.projectId, ids],
    );
    await owner.end();
    return { url: api.url, org, storyIds: rows.map(({ id }) => id) };
  };
  const [few, many] = [await sideOf(small), await sideOf(large)];
  const owner = createPool({ url: postgres.url, role: null, max: 1 });
  services.onStop(() => owner.end());
  const bench = await services.bench(owner, postgres);
  const summaries: Summary[] = [];
  for (const { name, operation, lanes } of [...reads.map(repeated), ...writes]) {
    if (only !== undefined && !only.includes(operation)) continue;
    const run = (side: BoardUnderTest): Promise<Sample> =>
      measure(bench, name, side.url, lanes(side), seconds);
    const samples = { ours: [] as Sample[], theirs: [] as Sample[] };
    await run(few);
    await run(many);
    for (let round = 0; round < rounds; round += 1) {
      samples.theirs.push(await run(few));
      samples.ours.push(await run(many));
    }
    const summary = summarize({ name, ...samples, goal: 1 / 1.3, roundTrips: null });
    summaries.push(summary);
    say(`${name}: ${millisOf(summary.theirs)} and ${millisOf(summary.ours)} of Postgres a call`);
  }
  return summaries;
}

const millisOf = ({ postgresMicros }: Summary['ours']): string =>
  postgresMicros === null ? '–' : `${(postgresMicros / 1_000).toFixed(2)} ms`;

interface BoardUnderTest {
  readonly url: string;
  readonly org: BenchOrg;
  readonly storyIds: readonly string[];
}

interface RepeatedRead {
  readonly name: string;
  readonly operation: string;
  readonly params: (side: BoardUnderTest, index: number) => Record<string, unknown>;
}

interface MeasuredOperation {
  readonly name: string;
  readonly operation: string;
  /** Returns the requests that each connection sends repeatedly. */
  readonly lanes: (side: BoardUnderTest) => LoadRequest[][];
}

const repeated = ({ name, operation, params }: RepeatedRead): MeasuredOperation => ({
  name,
  operation,
  lanes: (side) =>
    Array.from({ length: connections }, (_, lane) =>
      Array.from({ length: 64 }, (_none, index) => ({
        path: pathOf(operation),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${side.org.token}` },
        body: JSON.stringify(params(side, lane * 64 + index)),
      })),
    ),
});

/**
 * Writes that are measured on the large project itself, after all reads. They add few rows compared with the
 * rows on which lists are measured.
 */
const writes: readonly MeasuredOperation[] = works
  .filter(({ isWrite, callers }) => isWrite && callers === undefined)
  .map((work) => ({
    name: work.name,
    operation: work.operation,
    lanes: ({ org }) =>
      Array.from({ length: writers }, (_, connection) =>
        work.lane([{ ...org, busy: [org.still] }], connection).map(({ muster }) => muster),
      ),
  }));

const list = (name: string, more: Record<string, unknown>): RepeatedRead => ({
  name: `stories.list, ${name}`,
  operation: 'stories.list',
  params: ({ org }) => ({ projectId: org.still.projectId, ...more }),
});

const sorts = ['board', 'updated', 'created'] as const;
const unknownId = '00000000-0000-7000-8000-000000000000';

/** Each filter of the list, once for a rare value and once for a common value, and some combinations. */
const filters: Readonly<Record<string, Record<string, unknown>>> = {
  '': {},
  ', of a common label': { label: 'backend' },
  ', of a rare label': { label: 'rare' },
  ', by a common word': { query: 'answer' },
  ', by a rare word': { query: 'needle' },
  ', by a digit': { query: '7' },
  ', done': { status: 'done' },
  ', canceled': { status: 'canceled' },
  ', assigned to nobody': { assigneeId: unknownId },
  ', of no agent': { agentId: unknownId },
  ', of no epic': { epicId: unknownId },
  ', since long ago': { updatedSince: '2020-01-01T00:00:00.000Z' },
  ', since tomorrow': { updatedSince: '2100-01-01T00:00:00.000Z' },
  ', of a rare label and done': { label: 'rare', status: 'done' },
  ', of a common label and nobody': { label: 'backend', assigneeId: unknownId },
};

/**
 * Returns a read of a list in the organization. `more` returns the parameters in addition to the page size.
 */
const other = (
  operation: string,
  filter = '',
  more: (side: BoardUnderTest) => Record<string, unknown> = () => ({}),
): RepeatedRead => ({
  name: `${operation}${filter}`,
  operation,
  params: (side) => ({ limit: 50, ...more(side) }),
});
const inProject = ({ org }: BoardUnderTest) => ({ projectId: org.still.projectId });
const ofMember = ({ org }: BoardUnderTest) => ({ memberId: org.actor.memberId });
const search = (what: string, query: string): RepeatedRead => ({
  name: `search.find, ${what}`,
  operation: 'search.find',
  params: () => ({ query }),
});

/** Other lists than that of stories: without a filter, and with each filter for a rare value. */
const otherReads: readonly RepeatedRead[] = [
  search('a rare word', 'needle'),
  search('a common word', 'answer'),
  search('a rare word, mistyped', 'neelde'),
  search('a common word, mistyped', 'anwser'),
  search('a rare word, begun', 'need'),
  search('a common word, begun', 'ans'),
  search('one letter', 'a'),
  search('common words', 'answer overtake'),
  search('a word that is nowhere', 'zeppelin'),
  search('a key', 'STILL-7'),
  list('200 as cards', { view: 'card', limit: 200 }),
  list('50 as cards, updated, of a rare label', { view: 'card', sort: 'updated', limit: 50, label: 'rare' }),
  other('deliveryExecutions.list'),
  other('deliveryExecutions.list', ', of a project', inProject),
  other('deliveryExecutions.list', ', stalled', () => ({ state: 'stalled' })),
  other('deliveryExecutions.list', ', of a rare holder', ({ org }) => ({ holderId: org.actor.memberId })),
  other('deliveryExecutions.list', ', in need of rework', () => ({ needsRework: true })),
  other('deliveryExecutions.list', ', of a branch', (side) => ({ ...inProject(side), branch: 'rare' })),
  other('epics.list', '', inProject),
  other('epics.list', ', done', (side) => ({ ...inProject(side), status: 'done' })),
  other('comments.list', '', () => ({ storyId: 'STILL-1' })),
  other('comments.list', ', open', () => ({ storyId: 'STILL-1', includeResolved: false })),
  other('activity.list'),
  other('activity.list', ', of a project', inProject),
  other('activity.list', ', of a rare kind', () => ({ kinds: ['epic.created'] })),
  other('activity.list', ', of an actor', ({ org }) => ({ actorId: org.actor.memberId })),
  other('audit.list'),
  other('audit.list', ', of a rare operation', () => ({ operation: 'epics.create' })),
  other('audit.list', ', denied', () => ({ outcome: 'denied' })),
  other('notifications.list'),
  other('notifications.list', ', unread', () => ({ unreadOnly: true })),
  other('notifications.list', ', of a rare kind', () => ({ kinds: ['mention'] })),
  other('assignments.listForProject', '', inProject),
  other('assignments.listForOrg'),
  other('assignments.listForOrg', ', of a member', ofMember),
  other('reviewers.listForUser'),
  other('reviewers.listForUser', ', pending', () => ({ verdict: 'pending' })),
  other('members.list'),
  other('members.list', ', admins', () => ({ role: 'admin' })),
  other('members.list', ', by a rare word', () => ({ query: 'ana' })),
  other('projects.deliveryHealth', ', of a day', (side) => ({
    ...inProject(side),
    ...{ limit: undefined, from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
  })),
];

const reads: readonly RepeatedRead[] = [
  {
    name: 'stories.get',
    operation: 'stories.get',
    params: ({ storyIds }, index) => ({ storyId: storyIds[index % storyIds.length] }),
  },
  list('200 by board', { limit: 200 }),
  ...sorts.flatMap((sort) =>
    Object.entries(filters).map(([name, filter]) =>
      list(`50 by ${sort}${name}`, { limit: 50, sort, ...filter }),
    ),
  ),
  {
    name: 'projects.get with its counts',
    operation: 'projects.get',
    params: ({ org }) => ({ projectId: org.still.projectId }),
  },
  {
    name: 'boardColumns.list',
    operation: 'boardColumns.list',
    params: ({ org }) => ({ projectId: org.still.projectId }),
  },
  ...otherReads,
];
