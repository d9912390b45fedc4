/** A table with a head, as spreadsheets and other trackers write it. */
import { CsvError, parse } from 'csv-parse/sync';
import { UsageError } from '../failures.ts';
import { type Row, type Source, statusOf } from './rows.ts';

/** What a column may be called, in small letters; the first is the field's own name. */
const names = {
  title: ['title', 'summary', 'name', 'subject', 'story'],
  description: ['description', 'body', 'details', 'notes'],
  labels: ['labels', 'tags', 'label'],
  status: ['status', 'state'],
  priority: ['priority'],
  estimate: ['estimate', 'points', 'story points', 'size'],
  spec: ['spec', 'specification'],
  id: ['id', 'key', 'external id', 'issue key', 'number'],
  url: ['url', 'link'],
} as const;
export type CsvField = keyof typeof names;
export const csvFields = Object.keys(names) as CsvField[];

/** Which column is which field: as was said, else by its name. */
function columnsOf(
  head: readonly string[],
  said: ReadonlyMap<CsvField, string>,
): { columns: Map<CsvField, number>; left: string[] } {
  const plain = head.map((name) => name.trim().toLowerCase().replaceAll(/[_-]+/g, ' '));
  const columns = new Map<CsvField, number>();
  for (const field of csvFields) {
    const wanted = said.get(field);
    const place =
      wanted === undefined
        ? plain.findIndex((name) => (names[field] as readonly string[]).includes(name))
        : head.findIndex((name) => name.trim() === wanted);
    if (wanted !== undefined && place < 0) throw new UsageError(`there is no column "${wanted}"`);
    if (place >= 0) columns.set(field, place);
  }
  if (!columns.has('title')) {
    throw new UsageError(
      `no column is the title (there are ${head.join(', ')}): --map title=<column> says which`,
    );
  }
  const used = new Set(columns.values());
  return { columns, left: head.filter((_, place) => !used.has(place)) };
}

function recordsOf(text: string): { line: number; cells: string[] }[] {
  try {
    const parsed = parse(text, {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { info: { lines: number }; record: string[] }[];
    return parsed.map(({ info, record }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`the file is no CSV: ${error.message}`);
    throw error;
  }
}

/** With commas or semicolons between. */
const listOf = (text: string): string[] =>
  text
    .split(/[,;]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');

export function readCsv(text: string, file: string, said: ReadonlyMap<CsvField, string>): Source {
  const [first, ...records] = recordsOf(text);
  if (first === undefined) throw new UsageError('the file is empty');
  const { columns, left } = columnsOf(first.cells, said);
  const rows = records.map(({ line, cells }): Row => {
    const cell = (field: CsvField): string | undefined => {
      const value = cells[columns.get(field) ?? -1]?.trim();
      return value === '' ? undefined : value;
    };
    const [description, spec, status, priority, estimate] = [
      ...[cell('description'), cell('spec'), cell('status')],
      ...[cell('priority'), cell('estimate')],
    ];
    const id = cell('id');
    const url = cell('url');
    return {
      place: `line ${line}`,
      story: {
        title: cell('title') ?? '',
        labels: listOf(cell('labels') ?? ''),
        ...(description !== undefined && { description }),
        ...(spec !== undefined && { spec }),
        ...(status !== undefined && { status: statusOf(status) }),
        // The contract says which there are, and refuses others with the place in the file.
        ...(priority !== undefined && { priority: priority.toLowerCase() as 'none' }),
        ...(estimate !== undefined && { estimate: Number(estimate.replace(',', '.')) }),
      },
      origin:
        // Another file may have an id 1 of its own.
        id === undefined
          ? undefined
          : { provider: 'other', externalId: `${file}#${id}`, ...(url !== undefined && { url }) },
    };
  });
  return { rows, notes: left.length === 0 ? [] : [`Left out: the columns ${left.join(', ')}.`] };
}
