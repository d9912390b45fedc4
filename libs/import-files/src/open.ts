/** Opens a file of another tracker. Its items have the form of `imports.put` and can be read repeatedly. */
import { type boardRegistry } from '@muster/board-registry';
import { type z } from 'zod';
import { type ImportDraft, type ImportEntry, type OpenedFile, type ReadOptions } from './draft.ts';
import { toImportEntry, type ConversionOptions } from './fit.ts';
import { openCsv } from './formats/csv.ts';
import { openGithub } from './formats/github.ts';
import { openJira } from './formats/jira.ts';
import { openLinear } from './formats/linear.ts';
import { openMuster } from './formats/muster.ts';
import { openPlane } from './formats/plane.ts';
import { openTrello } from './formats/trello.ts';
import { type TextSource } from './source.ts';

/** Trackers with known files, Muster's own board files, and CSV of any other tracker. */
export const fileFormats = ['linear', 'jira', 'github', 'plane', 'trello', 'muster', 'csv'] as const;
export type FileFormat = (typeof fileFormats)[number];

const openersByFormat: Readonly<
  Record<FileFormat, (source: TextSource, options: ReadOptions) => Promise<OpenedFile>>
> = {
  ...{ linear: openLinear, jira: openJira, github: openGithub },
  ...{ plane: openPlane, trello: openTrello, muster: openMuster, csv: openCsv },
};

export type ImportedProvider = z.output<typeof boardRegistry.imports.begin.params>['provider'];

export interface ImportFile {
  readonly format: FileFormat;
  readonly provider: ImportedProvider;
  /** Notes about parts of the file that are left out or cut off. */
  readonly notes: readonly string[];
  /** Reads the file from its start, in the order for the board. Throws UnreadableFileError. */
  entries(fitting: ConversionOptions): AsyncGenerator<ImportEntry>;
}

/**
 * Prefixes ids with the format and the source. The contract has one provider for all these formats, so the
 * prefix keeps their ids distinct.
 */
function createIdPrefixer(format: FileFormat, sourceName: string | undefined): (id: string) => string {
  const own = ['plane', 'trello', 'muster', 'csv'].includes(format);
  const prefix = own ? [format, ...(sourceName === undefined ? [] : [sourceName]), ''].join(':') : '';
  return (id) => `${prefix}${id}`;
}

async function computeDigest(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Opens a file. Throws UnreadableFileError if the file does not have this format. */
export async function openFile(
  format: FileFormat,
  source: TextSource,
  options: ReadOptions = {},
): Promise<ImportFile> {
  const { read, notes } = await openersByFormat[format](source, options);
  const idOf = createIdPrefixer(format, options.sourceName);

  async function* entries(fitting: ConversionOptions): AsyncGenerator<ImportEntry> {
    const copies = new Map<string, number>();
    const seen = new Set<string>();
    const known = async ({ place: _, ...draft }: ImportDraft): Promise<string> => {
      if (draft.externalId !== undefined) return draft.externalId;
      // Equal rows have the same digest at any position in the file. A second equal row is another item, so
      // the id also contains the number of the copy.
      const digest = await computeDigest(draft);
      const copy = (copies.get(digest) ?? 0) + 1;
      copies.set(digest, copy);
      return `row-${digest}-${copy}`;
    };
    for await (const one of read()) {
      if ('skipped' in one) {
        yield { kind: 'skipped', place: one.place, why: one.skipped };
        continue;
      }
      const { draft } = one;
      const externalId = idOf(await known(draft));
      if (seen.has(externalId)) {
        yield {
          kind: 'refused',
          place: draft.place,
          why: 'an earlier item has the same id',
          refusedPart: 'item',
        };
        continue;
      }
      seen.add(externalId);
      const { epic, parent, blockedBy = [] } = draft;
      yield toImportEntry(
        {
          ...draft,
          ...(epic !== undefined && { epic: { ...epic, externalId: idOf(epic.externalId) } }),
          parent: parent === undefined ? undefined : idOf(parent),
          blockedBy: blockedBy.map(idOf),
        },
        externalId,
        fitting,
      );
    }
  }

  const provider = format === 'linear' || format === 'jira' || format === 'github' ? format : 'other';
  return { format, provider, notes, entries };
}
