/** A board file becomes a project, all or nothing. */
import { type BoardFile, NoBoard, readBoardFile } from '@muster/board-file';
import { type InputOf, registry } from '@muster/registry';
import { UsageError } from '../failures.ts';

export type BoardParams = InputOf<typeof registry.projects.convertLocal>;

const paramsOf = ({ name, epics, stories, specs }: BoardFile, key: string): BoardParams => ({
  // The same board into the same project again answers what the first time answered.
  localProjectId: `board-file/${key}/${name}`,
  key,
  name,
  epics: epics.map(({ localId, title, description }) => ({
    ...{ localId, title },
    ...(description !== undefined && { description }),
  })),
  stories: stories.map(({ localId, title, status, labels, description, epicLocalId, priority, estimate }) => {
    const spec = specs.get(localId);
    return {
      ...{ localId, title, status, labels },
      ...(description !== undefined && { description }),
      ...(epicLocalId !== undefined && { epicLocalId }),
      ...(priority !== undefined && { priority }),
      ...(estimate !== undefined && { estimate }),
      ...(spec !== undefined && { spec }),
    };
  }),
});

/** The board as the contract takes it, and what the contract has against it. */
export async function readBoard(
  file: string,
  key: string,
  name: string | undefined,
): Promise<{ params: BoardParams; issues: string[] }> {
  const board = await readBoardFile(file).catch((error: unknown) => {
    const known = error instanceof NoBoard || (error instanceof Error && 'code' in error);
    throw known ? new UsageError(error.message) : error;
  });
  const params = paramsOf(name === undefined ? board : { ...board, name }, key);
  const parsed = registry.projects.convertLocal.params.safeParse(params);
  const issues = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => {
        const [list, place] = path;
        const localId =
          list === 'stories' && typeof place === 'number' ? params.stories?.[place]?.localId : undefined;
        return `${localId === undefined ? '' : `story ${localId}, `}${path.join('.')}: ${message}`;
      });
  return { params, issues };
}
