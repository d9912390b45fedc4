/**
 * Imports the items of a file into a project. If a run is interrupted, the next one continues its import and
 * sends every item again; the API reports items that it already has as unchanged.
 */
import { type Import, type ImportOutcome, type InputOf, type ResultOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type ConversionOptions } from './fit.ts';
import { type FileFormat, type ImportFile } from './open.ts';
import { groupIntoPutCalls } from './puts.ts';

type ImportOperations = typeof boardRegistry.imports;
type ImportApiCall<
  Operation extends ImportOperations['begin'] | ImportOperations['put'] | ImportOperations['finish'],
> = (params: InputOf<Operation>) => Promise<ResultOf<Operation>>;

/** The API calls of an import, as a client provides them. */
export interface ImportCalls {
  readonly begin: ImportApiCall<ImportOperations['begin']>;
  readonly put: ImportApiCall<ImportOperations['put']>;
  readonly finish: ImportApiCall<ImportOperations['finish']>;
  readonly list: { readonly all: (params: InputOf<ImportOperations['list']>) => AsyncIterable<Import> };
}

export interface ImportReport {
  import: Import | undefined;
  /** True if the run continues an unfinished import. */
  isContinued: boolean;
  readonly counts: Record<ImportOutcome, number>;
  /** Keys of created stories, in order. */
  readonly createdKeys: string[];
  readonly kept: { place: string; key: string | null; why: string }[];
  readonly refused: { place: string; why: string }[];
  /** The messages of the API about parts that it left out, each with the items that it concerns. */
  readonly notesByItem: Map<string, string[]>;
  skippedDependencies: readonly { externalId: string; blockedBy: string; reason: string }[];
  skippedParents: readonly { externalId: string; parent: string; reason: string }[];
}

export const createEmptyReport = (): ImportReport => ({
  import: undefined,
  isContinued: false,
  createdKeys: [],
  kept: [],
  refused: [],
  notesByItem: new Map(),
  skippedDependencies: [],
  skippedParents: [],
  counts: { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 },
});

/**
 * Returns the name of a file's import. The same file of the same source has the same name, by which a later
 * run continues it.
 */
export const buildImportName = (format: FileFormat, file: string, source = ''): string =>
  `${format}: ${file}${source === '' ? '' : ` (${source})`}`.slice(0, 120);

/**
 * Finds the unfinished import of the same file. The dependencies of all its items are resolved when it is
 * finished.
 */
async function findUnfinishedImport(
  { list }: ImportCalls,
  projectId: string,
  { provider }: ImportFile,
  name: string,
): Promise<Import | undefined> {
  for await (const one of list.all({ projectId, limit: 200 }))
    if (one.state === 'open' && one.provider === provider && one.name === name) return one;
  return undefined;
}

export interface ImportTarget {
  readonly imports: ImportCalls;
  readonly project: string;
  /** The name of the import as buildImportName returns it. An unfinished import of that name is continued. */
  readonly name: string;
  /** Overwrites stories that were changed here since their import. */
  readonly theirs: boolean;
  /** Stops the run before the next call. The reason of the signal is thrown. */
  readonly signal?: AbortSignal;
}

/** Imports the file and updates the report during the run, so that it is valid even if the import throws. */
export async function importFile(
  file: ImportFile,
  options: ConversionOptions,
  { imports, project, name, theirs, signal }: ImportTarget,
  /** Receives the number of completed entries of the file. */
  onProgress: (read: number) => void,
  report: ImportReport,
): Promise<void> {
  const before = await findUnfinishedImport(imports, project, file, name);
  report.isContinued = before !== undefined;
  const { id: importId } = (report.import =
    before ?? (await imports.begin({ projectId: project, provider: file.provider, name })).import);

  let last: { externalId: string; outcome: ImportOutcome } | undefined;
  for await (const { items, places, read } of groupIntoPutCalls(file.entries(options))) {
    signal?.throwIfAborted();
    const { results } = await imports.put({ importId, items: [...items], theirs });
    for (const [at, { externalId, outcome, key, issues }] of results.entries()) {
      const place = places[at] ?? '';
      // An item with many comments takes several consecutive calls, and counts once.
      const before = last?.externalId === externalId ? last.outcome : undefined;
      if (before === undefined || before === 'unchanged') {
        if (before !== undefined) report.counts[before] -= 1;
        report.counts[outcome] += 1;
        last = { externalId, outcome };
      }
      if (outcome === 'created' && key !== null) report.createdKeys.push(key);
      const why = issues.map(({ message }) => message).join(' ');
      if (outcome === 'kept' || outcome === 'refused') {
        if (before !== undefined) continue;
        if (outcome === 'kept') report.kept.push({ place, key, why });
        else report.refused.push({ place, why });
      } else {
        for (const { message } of issues) {
          const known = report.notesByItem.get(message);
          if (known === undefined) report.notesByItem.set(message, [place]);
          else if (known.at(-1) !== place) known.push(place);
        }
      }
    }
    onProgress(read);
  }
  const finished = await imports.finish({ importId });
  report.import = finished.import;
  report.skippedDependencies = finished.leftOut;
  report.skippedParents = finished.parentsLeftOut;
}
