/** Reads a table with a head, from spreadsheets and from trackers without a format here. */
import { normalizeColumnName, openTable, type ParsedRow } from '../csv.ts';
import { type ImportDraft, type OpenedFile, type ReadOptions } from '../draft.ts';
import { flattenNesting, type Nesting } from '../nesting.ts';
import { UnreadableFileError, type TextSource } from '../source.ts';

/** The accepted names of each column in lower case. The first one is the name of the field. */
const columnNamesByField = {
  title: ['title', 'summary', 'name', 'subject', 'story'],
  description: ['description', 'body', 'details', 'notes'],
  labels: ['labels', 'tags', 'label'],
  status: ['status', 'state'],
  priority: ['priority'],
  estimate: ['estimate', 'points', 'story points', 'size'],
  due: ['due', 'due date', 'deadline'],
  parent: ['parent', 'parent id', 'parent key', 'parent issue'],
  spec: ['spec', 'specification'],
  epic: ['epic', 'epic name', 'initiative'],
  assignee: ['assignee', 'assignee email', 'owner', 'assigned to'],
  blockedBy: ['blocked by', 'depends on', 'blockers'],
  id: ['id', 'key', 'external id', 'issue key', 'number'],
  url: ['url', 'link'],
  created: ['created', 'created at', 'creation date'],
  updated: ['updated', 'updated at', 'last modified'],
} as const;
export type CsvField = keyof typeof columnNamesByField;
export const csvFields = Object.keys(columnNamesByField) as CsvField[];

/**
 * Returns the index of the column for each field. A given column name takes precedence, and '' means no
 * column. Otherwise the column is found by its usual names. Throws UnreadableFileError.
 */
export function findCsvColumns(
  head: readonly string[],
  givenColumns: ReadonlyMap<string, string> = new Map(),
): Map<CsvField, number> {
  const plain = head.map(normalizeColumnName);
  const columns = new Map<CsvField, number>();
  for (const field of csvFields) {
    const wanted = givenColumns.get(field);
    const place =
      wanted === undefined
        ? plain.findIndex((name) => (columnNamesByField[field] as readonly string[]).includes(name))
        : head.indexOf(wanted);
    if (wanted !== undefined && wanted !== '' && place < 0)
      throw new UnreadableFileError(`there is no column "${wanted}"`);
    if (place >= 0) columns.set(field, place);
  }
  return columns;
}

/** Returns the names of a table's columns. Throws UnreadableFileError. */
export const readCsvHeader = async (source: TextSource): Promise<readonly string[]> =>
  (await openTable(source)).head;

/** Splits at commas and semicolons. */
const splitList = (text = ''): string[] =>
  text
    .split(/[,;]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');

/**
 * Rewrites a number of a table whose decimal mark is the comma: `1.000` is one thousand there, and `1,000` is
 * one.
 */
function normalizeDecimalComma(text: string | undefined): string | undefined {
  if (text !== undefined && /^\d{1,3}(\.\d{3})+(,\d+)?$/.test(text)) return text.replaceAll('.', '');
  return text !== undefined && /^\d{1,3},\d{3}$/.test(text) ? text.replace(',', '.') : text;
}

function toImportedStory(
  row: ParsedRow,
  columns: ReadonlyMap<CsvField, number>,
  hasDecimalComma: boolean,
  { parents, blockersById: waits }: Nesting,
): ImportDraft {
  const cell = (field: CsvField): string | undefined => row.getByIndex(columns.get(field));
  const used = new Set(columns.values());
  const epic = cell('epic');
  return {
    place: `line ${row.line}`,
    externalId: cell('id'),
    url: cell('url'),
    title: cell('title') ?? '',
    description: cell('description'),
    spec: cell('spec'),
    status: cell('status'),
    priority: cell('priority'),
    estimate: hasDecimalComma ? normalizeDecimalComma(cell('estimate')) : cell('estimate'),
    labels: splitList(cell('labels')),
    epic: epic === undefined ? undefined : { externalId: epic.toLowerCase(), title: epic },
    dueDate: cell('due'),
    parent: parents.get(cell('id') ?? ''),
    blockedBy: [...splitList(cell('blockedBy')), ...(waits.get(cell('id') ?? '') ?? [])],
    assignees: splitList(cell('assignee')),
    createdAt: cell('created'),
    updatedAt: cell('updated'),
    unimportedFields: row
      .listFilledColumns()
      .filter(({ place }) => !used.has(place))
      .map(({ title }) => `column ${title}`),
  };
}

export async function openCsv(
  source: TextSource,
  { columnMapping: map = new Map() }: ReadOptions,
): Promise<OpenedFile> {
  const table = await openTable(source);
  const columns = findCsvColumns(table.head, map);
  if (!columns.has('title'))
    throw new UnreadableFileError(
      `no column contains the story titles (columns: ${table.head.join(', ')})`,
      'columns',
    );
  // Without ids no row can be a parent, and the column is reported as left out.
  if (!columns.has('id')) columns.delete('parent');
  const parents = new Map<string, string>();
  if (columns.has('parent')) {
    for await (const row of table.rows()) {
      const [id, parent] = [row.getByIndex(columns.get('id')), row.getByIndex(columns.get('parent'))];
      if (id !== undefined && parent !== undefined) parents.set(id, parent);
    }
  }
  const nesting = flattenNesting(parents);
  return {
    notes: [],
    async *read() {
      for await (const row of table.rows())
        yield { draft: toImportedStory(row, columns, table.hasDecimalComma, nesting) };
    },
  };
}
