/** Tests the day of `npm run tour` on a temporary instance, and proves that its checks can fail. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BoardFile } from '@muster/import-files/board-file';
import { checkKept } from './checks/kept.ts';
import { type Instance, startInstance } from './instance.ts';
import { Journal } from './journal.ts';
import { runTourDay } from './morning.ts';
import { conversation } from './steps/conversation.ts';
import { convert } from './steps/convert.ts';
import { specs } from './steps/specs.ts';
import { foundTeam } from './team.ts';
import { type Tour } from './tour-state.ts';

const board: BoardFile = {
  ...{ path: '', name: 'Small', epics: [{ localId: 'e', title: 'The only one' }] },
  stories: ['a', 'b', 'c'].map((localId) => ({
    ...{ localId, title: `Story ${localId}`, status: 'ready' as const, labels: [], epicLocalId: 'e' },
  })),
  specs: new Map([['a', '# Story a\n']]),
  leftOut: [],
};

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance();
}, 120_000);
afterAll(() => instance.stop());

it('passes on a small board', async () => {
  const checks = await runTourDay(instance, board, 'small-day');
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
}, 120_000);

describe('reading everything back', () => {
  let tour: Tour;
  beforeAll(async () => {
    const team = await foundTeam(instance, new Journal(instance.baseUrl, 'kept'), 'kept');
    ({ tour } = await convert(board, team));
    for (const { run } of [specs, conversation]) await run(tour);
  }, 60_000);
  const failed = async (spoiled: Partial<Tour>): Promise<string[]> =>
    (await checkKept({ ...tour, ...spoiled })).flatMap(({ holds, name }) => (holds ? [] : [name]));

  it('finds no difference', async () => {
    expect(await failed({})).toEqual([]);
  });

  it('finds stories that are missing, additional or different', async () => {
    const [[id, truth] = ['', undefined], ...others] = tour.stories;
    if (truth === undefined) throw new Error('the board has no story');
    const wanted = [expect.stringMatching(/^every story/)];
    expect(await failed({ stories: new Map(others) })).toEqual(wanted);
    expect(await failed({ stories: new Map([...tour.stories, ['missing', truth]]) })).toEqual(wanted);
    const renamed = { ...truth, title: 'Other' };
    expect(await failed({ stories: new Map([...others, [id, renamed]]) })).toEqual(wanted);
  });

  it('finds specs that are missing or different', async () => {
    const wanted = [expect.stringMatching(/^every spec/)];
    const [[id, content] = ['', '']] = tour.specs;
    expect(await failed({ specs: new Map() })).toEqual(wanted);
    expect(await failed({ specs: new Map([[id, `${content}\n`]]) })).toEqual(wanted);
  });

  it('finds comments that are missing, additional or different', async () => {
    const wanted = [expect.stringMatching(/^every comment/)];
    const [first, ...others] = tour.comments.values();
    if (first === undefined) throw new Error('nobody said anything');
    const comments = (...all: (typeof first)[]) => ({ comments: new Map(all.map((one) => [one.id, one])) });
    expect(await failed(comments(...others))).toEqual(wanted);
    expect(await failed(comments(first, ...others, { ...first, id: 'missing' }))).toEqual(wanted);
    expect(await failed(comments({ ...first, body: 'Other' }, ...others))).toEqual(wanted);
  });
});
