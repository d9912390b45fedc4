/** Creates a project from a board file, completely or not at all. */
import { type BoardFile, InvalidBoardFile, readBoardFile } from '@muster/import-files/board-file';
import { type InputOf } from '@muster/contract';
import { registry } from '@muster/registry';
import { countWithNoun, terminalSafeJson, sanitizeForTerminal, UsageError } from '@muster/terminal';
import { type Command } from 'commander';
import { createCommandClient } from '../operations/run.ts';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { omittedFieldLine } from './words.ts';

type BoardParams = InputOf<typeof registry.projects.convertLocal>;

interface BoardFlags extends ConnectionFlags {
  readonly project: string;
  readonly name?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}
const boardParamsOf = ({ name, epics, stories, specs }: BoardFile, key: string): BoardParams => ({
  // The id makes a repeated import return the result of the first call, if the project key and the board's
  // name are unchanged.
  localProjectId: `board-file/${key}/${name}`,
  key,
  name,
  epics: epics.map(({ localId, title, description }) => ({
    ...{ localId, title },
    ...(description !== undefined && { description }),
  })),
  stories: stories.map(({ localId, title, status, labels, ...story }) => {
    const { description, epicLocalId, parentLocalId, priority, estimate, dueDate, touches } = story;
    const spec = specs.get(localId);
    return {
      ...{ localId, title, status, labels },
      ...(description !== undefined && { description }),
      ...(epicLocalId !== undefined && { epicLocalId }),
      ...(priority !== undefined && { priority }),
      ...(estimate !== undefined && { estimate }),
      ...(dueDate !== undefined && { dueDate }),
      ...(parentLocalId !== undefined && { parentLocalId }),
      ...(touches !== undefined && { touches }),
      ...(spec !== undefined && { spec }),
    };
  }),
});

/** Returns the board as parameters of the operation, with the problems that the contract finds in it. */
async function readBoard(
  file: string,
  key: string,
  name: string | undefined,
): Promise<{ params: BoardParams; issues: string[]; leftOut: BoardFile['leftOut'] }> {
  const board = await readBoardFile(file).catch((error: unknown) => {
    const known = error instanceof InvalidBoardFile || (error instanceof Error && 'code' in error);
    throw known ? new UsageError(error.message) : error;
  });
  const params = boardParamsOf(name === undefined ? board : { ...board, name }, key);
  const parsed = registry.projects.convertLocal.params.safeParse(params);
  const issues = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => {
        const [list, place] = path;
        const localId =
          list === 'stories' && typeof place === 'number' ? params.stories?.[place]?.localId : undefined;
        return `${localId === undefined ? '' : `story ${localId}, `}${path.join('.')}: ${message}`;
      });
  return { params, issues, leftOut: board.leftOut };
}

export function configureBoardImportCommand(command: Command): void {
  command
    .description(
      'Imports a board file as a new project with its epics, stories and specs; either all of it or nothing.',
    )
    .argument('<file>', 'the file')
    .requiredOption('--project <key>', 'the key of the new project')
    .option('--name <name>', "the new project's name; by default the board's")
    .option('--dry-run', 'check the file only, and change nothing')
    .option('--json', 'print the report as JSON, for scripts')
    .addHelpText('after', '\nExamples:\n  muster import board board.json --project SHOP');
  addConnectionFlags(command).action(importBoard);
}
async function importBoard(
  file: string,
  { project, name, dryRun, json, ...flags }: BoardFlags,
): Promise<void> {
  const { params, issues, leftOut } = await readBoard(file, project, name);
  if (issues.length > 0)
    throw new UsageError(`${file} is invalid:\n${issues.map((issue) => `  ${issue}`).join('\n')}`);
  const count = `${countWithNoun(params.stories?.length ?? 0, 'story', 'stories')} and ${countWithNoun(params.epics?.length ?? 0, 'epic')}`;
  const leftOutText = leftOut.map(({ what, places }) => `${omittedFieldLine(what, places)}\n`).join('');
  if (dryRun === true) {
    process.stdout.write(
      json === true
        ? `${terminalSafeJson({ stories: params.stories?.length, epics: params.epics?.length, leftOut })}\n`
        : `${leftOutText}${count} would be imported; nothing was changed.\n`,
    );
    return;
  }
  const result = await createCommandClient(await findConnection(flags)).projects.convertLocal(params);
  process.stdout.write(
    json === true
      ? `${terminalSafeJson({ ...result, leftOut })}\n`
      : `${leftOutText}Imported ${count} as the project ${sanitizeForTerminal(result.project.name)} (${result.project.key}).\n`,
  );
}
