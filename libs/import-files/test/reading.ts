/** Reads a text as a file of a format, in pieces as small as a test needs. */
import { type ImportEntry, type FileItem, type ReadOptions } from '../src/draft.ts';
import { type ConversionOptions } from '../src/fit.ts';
import { type FileFormat, openFile } from '../src/open.ts';
import { type TextSource } from '../src/source.ts';
import { createStatusMapper } from '../src/statuses.ts';
import { type Survey, surveyFile } from '../src/survey.ts';

export const sourceOf = (text: string, size = 7): TextSource =>
  async function* source() {
    await Promise.resolve();
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
  };

/** Maps a status by the usual rules, and all other statuses to the backlog. */
export const acceptAnyStatus: ConversionOptions = {
  findStatusTarget: createStatusMapper(undefined, new Map([['*', 'backlog']])),
};

export interface ReadResult {
  readonly items: FileItem[];
  readonly entries: ImportEntry[];
  readonly survey: Survey;
  /** Returns an item by its id. */
  readonly item: (externalId: string) => FileItem | undefined;
  /** The parts that are left out, with the items that have them. */
  readonly unimportedFields: Record<string, readonly string[]>;
}

export async function read(
  format: FileFormat,
  content: string | object,
  fitting: Partial<ConversionOptions> = {},
  options: ReadOptions = {},
): Promise<ReadResult> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const file = await openFile(format, sourceOf(text), options);
  const entries: ImportEntry[] = [];
  for await (const entry of file.entries({ ...acceptAnyStatus, ...fitting })) entries.push(entry);
  const items = entries.flatMap((entry) => (entry.kind === 'item' ? [entry.item] : []));
  const survey = await surveyFile(file, { ...acceptAnyStatus, ...fitting });
  return {
    ...{ items, entries, survey },
    item: (externalId) => items.find((one) => one.externalId === externalId),
    unimportedFields: Object.fromEntries(survey.unimportedParts.map(({ what, places }) => [what, places])),
  };
}
