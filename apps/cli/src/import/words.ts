/** The report of an import, in lines for people and as JSON for scripts. */
import { type ImportReport, type Survey } from '@muster/import-files';
import { countWithNoun, sanitizeToOneLine, formatTable } from '@muster/terminal';
import cliTruncate from 'cli-truncate';
import { formatNumber } from './progress.ts';

/** The number of positions in the file that a line names. */
const maxNamedItems = 3;
const maxReportLines = 20;

const formatCount = (count: number, singular: string): string =>
  countWithNoun(count, singular).replace(/^\d+/, formatNumber(count));

/** Formats a list of names, such as `OPS-1, OPS-2, OPS-3 and 9 more`. */
function formatShortList(items: readonly string[]): string {
  const rest = items.length - maxNamedItems;
  const named = items.slice(0, rest === 1 ? maxNamedItems + 1 : maxNamedItems).map(sanitizeToOneLine);
  return rest > 1 ? `${named.join(', ')} and ${formatNumber(rest)} more` : named.join(', ');
}

/** Returns the first lines, and a last line with the number of the lines that are left out. */
function truncateLines(lines: readonly string[]): string[] {
  const rest = lines.length - maxReportLines;
  return rest > 0
    ? [...lines.slice(0, maxReportLines), `... and ${formatNumber(rest)} more; use --json to see all.`]
    : [...lines];
}

const formatStatusTarget = (target: Survey['statuses'][number]['place']): string => {
  if (target === undefined) return '?';
  return 'column' in target ? `column ${target.column}` : target.status;
};

/** Describes the contents of the file, and the columns to which its statuses are mapped. */
export function previewLines({ items, comments, epics, statuses }: Survey): string[] {
  const head = `${formatCount(items, 'item')}, ${formatCount(comments, 'comment')}, ${formatCount(epics, 'epic')}.`;
  if (statuses.length === 0) return [head, 'No item has a status, so all go to the backlog.'];
  const rows = statuses
    .toSorted((a, b) => b.items - a.items)
    .map(({ name, items: count, place }) => [
      cliTruncate(sanitizeToOneLine(name), 40),
      formatNumber(count),
      cliTruncate(formatStatusTarget(place), 30),
    ]);
  return [head, '', ...formatTable(['STATUS IN FILE', 'ITEMS', 'IN MUSTER'], rows), ''];
}

export const unmappedStatuses = ({ statuses }: Survey): string[] =>
  statuses.filter(({ place }) => place === undefined).map(({ name }) => name);

/** Explains how to choose columns for the statuses that no column was found for. */
export function unmappedStatusesMessage(names: readonly string[]): string {
  const example = (names[0] ?? '').replaceAll("'", String.raw`'\''`);
  return `${countWithNoun(names.length, 'status has', 'statuses have')} no matching column on the board: ${names.map(sanitizeToOneLine).join(', ')}. Map each one, for example --status '${sanitizeToOneLine(example)}=in_review' (or a column's name), or all unknown ones with '*=backlog'.`;
}

/** Describes a field that stories cannot store, with the positions of its items in the file. */
export const omittedFieldLine = (fieldName: string, filePositions: readonly string[]): string =>
  `Left out: ${sanitizeToOneLine(fieldName)} (${formatNumber(filePositions.length)}: ${formatShortList(filePositions)})`;

/** Lists everything that is not imported, each with the positions of the affected items. */
export function omissionReportLines(
  { unimportedParts: leftOut, notes, refused }: Survey,
  report?: ImportReport,
): string[] {
  const all = [...leftOut.map(({ what, places }) => [what, places] as const), ...(report?.notesByItem ?? [])];
  return [
    ...notes,
    ...all.map(([what, places]) => omittedFieldLine(what, places)),
    ...truncateLines([...refused, ...(report?.refused ?? [])].map(({ place, why }) => `${place}: ${why}`)),
    ...truncateLines(
      (report?.kept ?? []).map(({ place, key, why }) => `Kept ${key ?? ''} (${place}): ${why}`),
    ),
    ...truncateLines(
      (report?.skippedDependencies ?? []).map(
        ({ externalId, blockedBy, reason }) => `${externalId} does not wait for ${blockedBy}: ${reason}`,
      ),
    ),
    ...truncateLines(
      (report?.skippedParents ?? []).map(
        ({ externalId, parent, reason }) => `${externalId} is not a part of ${parent}: ${reason}`,
      ),
    ),
  ];
}

export function importSummaryLines(report: ImportReport): string[] {
  const { created, updated, unchanged, kept } = report.counts;
  const [first, last] = [report.createdKeys[0], report.createdKeys.at(-1)];
  const keys = first === undefined ? '' : first === last ? ` (${first})` : ` (${first} to ${last ?? ''})`;
  const hint =
    kept > 0
      ? [
          'Stories that were changed in Muster were kept. Use --theirs to overwrite them with the data of the file.',
        ]
      : [];
  const id = report.import?.id;
  const undo = id !== undefined && created > 0 ? [`To undo it: muster imports undo --import-id ${id}`] : [];
  return [
    ...(report.isContinued ? ['Resumed an unfinished import.'] : []),
    `Created ${formatNumber(created)}${keys}, updated ${formatNumber(updated)}, kept ${formatNumber(kept)}; ${formatNumber(unchanged)} unchanged.`,
    ...hint,
    ...undo,
  ];
}

/** Builds the complete report for scripts. */
export const jsonReport = (survey: Survey, report?: ImportReport): object => ({
  items: survey.items,
  comments: survey.comments,
  epics: survey.epics,
  statuses: survey.statuses,
  ...(report && {
    importId: report.import?.id ?? null,
    ...report.counts,
    made: report.createdKeys,
    kept: report.kept,
    notWaiting: report.skippedDependencies,
    withoutParent: report.skippedParents,
  }),
  refused: [...survey.refused, ...(report?.refused ?? [])],
  leftOut: [
    ...survey.unimportedParts,
    ...[...(report?.notesByItem ?? [])].map(([what, places]) => ({ what, places })),
  ],
  notes: survey.notes,
});
