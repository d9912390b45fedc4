/**
 * Reads a Muster board file with its epics and stories. The command line and the tour read the same format.
 */
import { storyStatuses } from '@muster/contract';
import { z } from 'zod';
import { type ImportDraft, type OpenedFile, type ParsedItem } from '../draft.ts';
import { readJson, UnreadableFileError, type TextSource } from '../source.ts';
import { listUnreadFields } from '../unread.ts';

const Story = z.looseObject({
  localId: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  status: z.enum(storyStatuses),
  epicLocalId: z.string().nullish(),
  priority: z.string().nullish(),
  labels: z.array(z.string()).nullish(),
  estimate: z.number().nullish(),
  dueDate: z.string().nullish(),
  touches: z.array(z.string()).nullish(),
  parentLocalId: z.string().nullish(),
  spec: z.string().nullish(),
});
const Epic = z.looseObject({ localId: z.string(), title: z.string(), targetDate: z.string().nullish() });
const Board = z.looseObject({ epics: z.array(Epic).nullish(), stories: z.array(Story) });

const knownStoryFields = new Set(Object.keys(Story.shape));
const knownEpicFields = new Set(Object.keys(Epic.shape));
/** The name of a board is not imported: the stories go to a project that has one. */
const knownBoardFields = new Set([...Object.keys(Board.shape), 'name']);

/** Describes the fields of the board and of its epics that are not imported. */
function describeUnreadFields({ epics, ...board }: z.infer<typeof Board>): string[] {
  const epicCounts = new Map<string, number>();
  for (const epic of epics ?? [])
    for (const field of listUnreadFields(epic, knownEpicFields))
      epicCounts.set(field, (epicCounts.get(field) ?? 0) + 1);
  return [
    ...listUnreadFields(board, knownBoardFields).map(
      (field) => `Field ${field} of the board is not imported.`,
    ),
    ...[...epicCounts].map(
      ([field, count]) => `Field ${field} of epics is not imported (${count} with a value).`,
    ),
  ];
}

export async function openMuster(source: TextSource): Promise<OpenedFile> {
  const parsed = Board.safeParse(await readJson(source));
  if (!parsed.success)
    throw new UnreadableFileError(
      `the file is not a valid Muster board file:\n${z.prettifyError(parsed.error)}`,
    );
  const { epics, stories } = parsed.data;
  const epicsById = new Map((epics ?? []).map((epic) => [epic.localId, epic]));
  const draftOf = (story: z.infer<typeof Story>): ImportDraft => {
    const { localId, status, epicLocalId } = story;
    const epic = epicsById.get(epicLocalId ?? '');
    return {
      ...{ place: `story ${localId}`, externalId: localId, title: story.title, status, statusIs: status },
      description: story.description ?? undefined,
      spec: story.spec ?? undefined,
      priority: story.priority ?? undefined,
      labels: story.labels ?? [],
      estimate: story.estimate ?? undefined,
      dueDate: story.dueDate ?? undefined,
      touches: story.touches ?? undefined,
      parent: story.parentLocalId ?? undefined,
      epic: epic && { externalId: epic.localId, title: epic.title, targetDate: epic.targetDate ?? undefined },
      // A spec in a separate file cannot be read. Its field is reported as left out.
      unimportedFields: listUnreadFields(story, knownStoryFields),
    };
  };
  return {
    notes: describeUnreadFields(parsed.data),
    async *read(): AsyncGenerator<ParsedItem> {
      await Promise.resolve();
      for (const story of stories) yield { draft: draftOf(story) };
      // An epic is imported with its first story.
      const used = new Set(stories.map(({ epicLocalId }) => epicLocalId));
      for (const { localId } of epicsById.values())
        if (!used.has(localId)) yield { place: `epic ${localId}`, skipped: 'epic without stories' };
    },
  };
}
