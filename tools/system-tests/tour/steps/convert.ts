import { type BoardFile } from '@muster/import-files/board-file';
import { type TourTeam } from '../team.ts';
import { type Tour } from '../tour-state.ts';

/** Parameters of projects.convertLocal for the file's board, without its specs. */
const paramsOf = ({ name, epics, stories }: BoardFile) => ({
  localProjectId: 'tour/board',
  key: 'TOUR',
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

/** Imports the board in one call. */
export async function convert(board: BoardFile, team: TourTeam): Promise<{ tour: Tour; line: string }> {
  const params = paramsOf(board);
  const { project, mapping } = await team.ana.api.projects.convertLocal(params);
  const tour: Tour = {
    ...{ board, team, projectId: project.id, storyIds: new Map(Object.entries(mapping.stories)) },
    ...{ stories: new Map(), specs: new Map(), comments: new Map() },
  };
  for (const { localId, title, status, labels, epicLocalId, estimate, priority } of board.stories)
    tour.stories.set(mapping.stories[localId] ?? localId, {
      title: title.normalize('NFC').trim(),
      status,
      labels: [...new Set(labels.map((label) => label.normalize('NFC').trim()))],
      epicId: epicLocalId === undefined ? null : (mapping.epics[epicLocalId] ?? null),
      estimate: estimate ?? null,
      priority: priority ?? 'none',
      blockedBy: [],
    });
  const kibibytes = Math.ceil(Buffer.byteLength(JSON.stringify(params)) / 1024);
  const line = `${board.epics.length} epics and ${board.stories.length} stories in one call of ${kibibytes} KiB`;
  return { tour, line };
}
