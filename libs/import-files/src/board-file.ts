/** Reads a board from a file, for the tour and for `muster import`. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { storyStatuses } from '@muster/contract';
import { z } from 'zod';

/** A text that may also be null. */
const OptionalText = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined)
  .optional();

const Story = z.object({
  localId: z.string(),
  title: z.string(),
  description: z.string().optional(),
  status: z.enum(storyStatuses),
  epicLocalId: z.string().optional(),
  priority: z.enum(['none', 'low', 'medium', 'high', 'urgent']).optional(),
  labels: z.array(z.string()).default([]),
  estimate: z.number().optional(),
  dueDate: OptionalText,
  touches: z.array(z.string()).optional(),
  parentLocalId: OptionalText,
  /** The path of a Markdown file, relative to the board's file. */
  specFile: z.string().optional(),
});

const Epic = z.object({
  localId: z.string(),
  title: z.string(),
  description: z.string().optional(),
});

/**
 * The schema of a board file. Other fields, such as people, paths or mistyped names, are left out and
 * reported.
 */
const Board = z.object({
  name: z.string().optional(),
  epics: z.array(Epic),
  stories: z.array(Story).min(1),
});

/** A story of the file. */
export type FileStory = z.infer<typeof Story>;

/** A parsed board. */
export interface BoardFile {
  readonly path: string;
  readonly name: string;
  readonly epics: z.infer<typeof Board>['epics'];
  readonly stories: readonly FileStory[];
  /** The specs by the localId of their story. */
  readonly specs: ReadonlyMap<string, string>;
  /** Fields of the file that a board does not have, with the records that have them. */
  readonly leftOut: readonly { readonly what: string; readonly places: readonly string[] }[];
}

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** A parsed board file that still contains the fields which the schema does not know. */
type UncheckedBoardFile = z.infer<typeof Board> & Readonly<Record<string, unknown>>;

/** Lists the fields of the file that the schema does not know, with the records that have them. */
function findUnknownFields(board: UncheckedBoardFile): BoardFile['leftOut'] {
  const leftOut = new Map<string, string[]>();
  const add = (kind: string, place: string, record: object, read: object): void => {
    for (const [field, value] of Object.entries(record)) {
      if (field in read || isEmptyValue(value)) continue;
      const what = `field ${field} of ${kind}`;
      leftOut.set(what, [...(leftOut.get(what) ?? []), place]);
    }
  };
  add('the board', 'board', board, Board.shape);
  for (const epic of board.epics) add('an epic', `epic ${epic.localId}`, epic, Epic.shape);
  for (const story of board.stories) add('a story', `story ${story.localId}`, story, Story.shape);
  return [...leftOut].map(([what, places]) => ({ what, places }));
}

/**
 * The error of a file that is not a board, or names a spec that cannot be read. The message has the reason.
 */
export class InvalidBoardFile extends Error {}

/** Removes a byte order mark. */
const utf8Decoder = new TextDecoder('utf-8', { fatal: true });
async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  try {
    return utf8Decoder.decode(bytes);
  } catch (error) {
    throw new InvalidBoardFile(`${file} is not UTF-8`, { cause: error });
  }
}

/** Reads a board and the specs that it names. Throws InvalidBoardFile, or an error of the file system. */
export async function readBoardFile(file: string): Promise<BoardFile> {
  const whole = parseJson(file, await readText(file));
  const parsed = Board.safeParse(whole);
  if (!parsed.success)
    throw new InvalidBoardFile(`${file} is not a valid board file:\n${z.prettifyError(parsed.error)}`);
  const { name, epics, stories } = parsed.data;
  const specs = new Map<string, string>();
  for (const { localId, specFile } of stories) {
    if (specFile === undefined) continue;
    specs.set(localId, await readText(path.resolve(path.dirname(file), specFile)));
  }
  return {
    ...{ path: file, name: name ?? path.basename(path.dirname(path.resolve(file))) },
    ...{ epics, stories, specs, leftOut: findUnknownFields(whole as UncheckedBoardFile) },
  };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidBoardFile(`${file} is not valid JSON`, { cause: error });
  }
}
