/** Puts the items of a file into a project. What was put stays, and the same command goes on from there. */
import { type Client } from '@muster/client';
import { type Fitting, type ImportFile } from '@muster/import-files';
import { type Import, type ImportOutcome } from '@muster/registry';
import { type Progress } from './progress.ts';
import { putsOf } from './puts.ts';

export interface Report {
  import: Import | undefined;
  /** It goes on with one that was begun before and not finished. */
  isContinued: boolean;
  readonly counts: Record<ImportOutcome, number>;
  /** Keys of stories that were made, in order. */
  readonly made: string[];
  readonly kept: { place: string; key: string | null; why: string }[];
  readonly refused: { place: string; why: string }[];
  /** What the API left out of items, by what it says. */
  readonly issues: Map<string, string[]>;
  leftOut: readonly { externalId: string; blockedBy: string; reason: string }[];
}

export const emptyReport = (): Report => ({
  ...{
    import: undefined,
    isContinued: false,
    made: [],
    kept: [],
    refused: [],
    issues: new Map(),
    leftOut: [],
  },
  counts: { created: 0, updated: 0, unchanged: 0, kept: 0, refused: 0 },
});

/** The import that an earlier run of the command left open. Waits of all that was put into it are found when it is finished. */
async function openOne(
  client: Client,
  projectId: string,
  { provider, format }: ImportFile,
): Promise<Import | undefined> {
  for await (const one of client.imports.list.all({ projectId, limit: 200 })) {
    const isOurs = one.provider === provider && one.name.startsWith(`${format}: `);
    if (isOurs && one.state === 'open') return one;
  }
  return undefined;
}

export interface ImportInto {
  readonly client: Client;
  readonly project: string;
  /** What the import is called. */
  readonly name: string;
  readonly theirs: boolean;
}

/** Fills the report as it goes, also where it throws in the middle. */
export async function importFile(
  file: ImportFile,
  fitting: Fitting,
  { client, project, name, theirs }: ImportInto,
  progress: Progress,
  report: Report,
): Promise<void> {
  const before = await openOne(client, project, file);
  report.isContinued = before !== undefined;
  const { id: importId } = (report.import =
    before ?? (await client.imports.begin({ projectId: project, provider: file.provider, name })).import);

  for await (const { items, places, read } of putsOf(file.entries(fitting))) {
    const { results } = await client.imports.put({ importId, items: [...items], theirs });
    for (const [at, { outcome, key, issues }] of results.entries()) {
      const place = places[at] ?? '';
      report.counts[outcome] += 1;
      if (outcome === 'created' && key !== null) report.made.push(key);
      const why = issues.map(({ message }) => message).join(' ');
      if (outcome === 'kept') report.kept.push({ place, key, why });
      else if (outcome === 'refused') report.refused.push({ place, why });
      else {
        for (const { message } of issues) {
          const known = report.issues.get(message);
          if (known === undefined) report.issues.set(message, [place]);
          else known.push(place);
        }
      }
    }
    progress.show(read);
  }
  const finished = await client.imports.finish({ importId });
  report.import = finished.import;
  report.leftOut = finished.leftOut;
}
