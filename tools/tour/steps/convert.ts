import { isDeepStrictEqual } from 'node:util';
import { type BoardFile } from '@muster/board-file';
import { check, type Check } from '../check.ts';
import { type Journal } from '../journal.ts';
import { type Team } from '../team.ts';
import { type Tour } from '../tour-state.ts';

/** Of the board's project, and of a small one that two connections bring in at once. */
const projectKey = 'TOUR';
const twinKey = 'TWIN';

/** The file's board as the contract takes it; its specs follow one by one. */
const paramsOf = ({ name, epics, stories }: BoardFile) => ({
  localProjectId: 'tour/board',
  key: projectKey,
  name,
  epics: epics.map(({ localId, title, description }) => ({
    ...{ localId, title },
    ...(description !== undefined && { description }),
  })),
  stories: stories.map(({ specFile: _, description, epicLocalId, priority, estimate, ...story }) => ({
    ...story,
    ...(description !== undefined && { description }),
    ...(epicLocalId !== undefined && { epicLocalId }),
    ...(priority !== undefined && { priority }),
    ...(estimate !== undefined && { estimate }),
  })),
});

const twin = {
  localProjectId: 'tour/twin',
  key: twinKey,
  name: 'Brought in twice at once',
  epics: [{ localId: 'e', title: 'The only one' }],
  stories: ['a', 'b', 'c'].map((localId) => ({ localId, title: `Story ${localId}`, epicLocalId: 'e' })),
};

/** Brings the board in, and asks again as a client does that never saw the first answer. */
export async function convert(
  board: BoardFile,
  team: Team,
  journal: Journal,
): Promise<{ tour: Tour; line: string }> {
  const { ana } = team;
  const params = paramsOf(board);
  const first = await ana.api.projects.convertLocal(params);
  const again = await ana.api.projects.convertLocal(params);
  const [one, other] = await Promise.all([
    ana.api.projects.convertLocal(twin),
    ana.api.projects.convertLocal(twin),
  ]);
  const { items: projects } = await ana.api.projects.list();

  const storyIds = new Map(Object.entries(first.mapping.stories));
  const epicIds = new Map(Object.entries(first.mapping.epics));
  const tour: Tour = {
    ...{ board, team, journal, projectId: first.project.id, storyIds, epicIds },
    stories: new Map(),
    specs: new Map(),
    comments: new Map(),
    checks: [],
  };
  for (const { localId, title, labels, epicLocalId, estimate, priority } of board.stories) {
    tour.stories.set(storyIds.get(localId) ?? localId, {
      title: title.normalize('NFC').trim(),
      labels: [...new Set(labels.map((label) => label.normalize('NFC').trim()))],
      epicId: epicLocalId === undefined ? null : (epicIds.get(epicLocalId) ?? null),
      estimate: estimate ?? null,
      priority: priority ?? 'none',
      blockedBy: [],
    });
  }
  tour.checks.push(
    check('converting again gives the same answer and doubles nothing', (found: Check) => {
      found.that(isDeepStrictEqual(again, first), () => 'the second answer differs from the first');
      found.that(isDeepStrictEqual(one, other), () => 'of two at once, one got another answer');
      found.same(storyIds.size, board.stories.length, 'the number of stories in the mapping');
      found.same(new Set(storyIds.values()).size, board.stories.length, 'the number of different story ids');
      found.same(epicIds.size, board.epics.length, 'the number of epics in the mapping');
      found.same(projects.map(({ key }) => key).sort(), [projectKey, twinKey], 'the list of projects');
      return `${storyIds.size} stories, ${epicIds.size} epics; two at once on another board`;
    }),
  );
  const bytes = Buffer.byteLength(JSON.stringify(params));
  const line = `${board.epics.length} epics and ${board.stories.length} stories in one call of ${Math.ceil(bytes / 1024)} KiB, twice`;
  return { tour, line };
}
