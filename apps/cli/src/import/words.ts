/** The report of an import, in lines for people and as JSON for scripts. */
import { type Report, type Survey } from '@muster/import-files';
import { counted, onOneLine, table } from '@muster/terminal';
import cliTruncate from 'cli-truncate';

/** The number of positions in the file that a line names. */
const mostNamed = 3;
const mostLines = 20;

const number = (count: number): string => count.toLocaleString('en');
const many = (count: number, one: string, more?: string): string =>
  counted(count, one, more).replace(/^\d+/, number(count));

/** Formats a list of names, such as `OPS-1, OPS-2, OPS-3 and 9 more`. */
function listed(places: readonly string[]): string {
  const rest = places.length - mostNamed;
  const named = places.slice(0, rest === 1 ? mostNamed + 1 : mostNamed).map(onOneLine);
  return rest > 1 ? `${named.join(', ')} and ${number(rest)} more` : named.join(', ');
}

/** Returns the first lines, and a last line with the number of the lines that are left out. */
function firstOf(lines: readonly string[]): string[] {
  const rest = lines.length - mostLines;
  return rest > 0
    ? [...lines.slice(0, mostLines), `... and ${number(rest)} more; use --json to see all.`]
    : [...lines];
}

const placeText = (place: Survey['statuses'][number]['place']): string => {
  if (place === undefined) return '?';
  return 'column' in place ? `column ${place.column}` : place.status;
};

/** Describes the contents of the file, and the columns to which its statuses are mapped. */
export function previewLines({ items, comments, epics, statuses }: Survey): string[] {
  const head = `${many(items, 'item')}, ${many(comments, 'comment')}, ${many(epics, 'epic')}.`;
  if (statuses.length === 0) return [head, 'No item has a status, so all go to the backlog.'];
  const rows = statuses
    .toSorted((a, b) => b.items - a.items)
    .map(({ name, items: count, place }) => [
      cliTruncate(onOneLine(name), 40),
      number(count),
      cliTruncate(placeText(place), 30),
    ]);
  return [head, '', ...table(['STATUS THERE', 'ITEMS', 'HERE'], rows), ''];
}

export const unplaced = ({ statuses }: Survey): string[] =>
  statuses.filter(({ place }) => place === undefined).map(({ name }) => name);

/** Explains how to choose columns for the statuses that no column was found for. */
export function unplacedText(names: readonly string[]): string {
  const example = (names[0] ?? '').replaceAll("'", String.raw`'\''`);
  return `${counted(names.length, 'status has', 'statuses have')} no matching column on the board: ${names.map(onOneLine).join(', ')}. Map each one, for example --status '${onOneLine(example)}=in_review' (or a column's name), or all unknown ones with '*=backlog'.`;
}

/** Describes a field that stories cannot store, with the positions of its items in the file. */
export const leftOutLine = (what: string, places: readonly string[]): string =>
  `Left out: ${onOneLine(what)} (${number(places.length)}: ${listed(places)})`;

/** Lists everything that is not imported, each with the positions of the affected items. */
export function leftOutLines({ leftOut, notes, refused }: Survey, report?: Report): string[] {
  const all = [...leftOut.map(({ what, places }) => [what, places] as const), ...(report?.issues ?? [])];
  return [
    ...notes,
    ...all.map(([what, places]) => leftOutLine(what, places)),
    ...firstOf([...refused, ...(report?.refused ?? [])].map(({ place, why }) => `${place}: ${why}`)),
    ...firstOf((report?.kept ?? []).map(({ place, key, why }) => `Kept ${key ?? ''} (${place}): ${why}`)),
    ...firstOf(
      (report?.leftOut ?? []).map(
        ({ externalId, blockedBy, reason }) => `${externalId} does not wait for ${blockedBy}: ${reason}`,
      ),
    ),
  ];
}

export function summaryLines(report: Report): string[] {
  const { created, updated, unchanged, kept } = report.counts;
  const [first, last] = [report.made[0], report.made.at(-1)];
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
    `Created ${number(created)}${keys}, updated ${number(updated)}, kept ${number(kept)}; ${number(unchanged)} unchanged.`,
    ...hint,
    ...undo,
  ];
}

/** Builds the complete report for scripts. */
export const jsonReport = (survey: Survey, report?: Report): object => ({
  items: survey.items,
  comments: survey.comments,
  epics: survey.epics,
  statuses: survey.statuses,
  ...(report && {
    importId: report.import?.id ?? null,
    ...report.counts,
    made: report.made,
    kept: report.kept,
    notWaiting: report.leftOut,
  }),
  refused: [...survey.refused, ...(report?.refused ?? [])],
  leftOut: [...survey.leftOut, ...[...(report?.issues ?? [])].map(([what, places]) => ({ what, places }))],
  notes: survey.notes,
});
