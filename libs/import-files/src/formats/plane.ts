/** Reads Plane files: the CSV and the JSON of its export, in which lists are JSON within a cell. */
import { normalizeColumnName, openTable, requireColumns, ParsedRow } from '../csv.ts';
import { type ImportDraft, type DraftComment, type OpenedFile, type ParsedItem } from '../draft.ts';
import { appendTo, flattenNesting, type Nesting } from '../nesting.ts';
import { UnreadableFileError, type TextSource } from '../source.ts';
import { isObject } from '../unread.ts';
import { tryReadJson } from './json.ts';

const knownColumns = new Set([
  ...['id', 'identifier', 'project', 'project name', 'project id', 'project identifier', 'sequence id'],
  ...['name', 'description', 'state', 'state name', 'priority', 'assignees', 'assignee', 'created at'],
  ...['updated at', 'completed at', 'estimate', 'labels', 'modules', 'module name', 'relations', 'comments'],
  ...['parent', 'sub issues count', 'is draft', 'archived at', 'link count', 'subscribers count'],
  ...['target date', 'due date'],
]);

/** Parses a cell that has JSON, or words separated by commas. */
function parseCell(text: string | undefined): unknown {
  if (text === undefined) return [];
  if (!/^[[{]/.test(text)) return text.split(/,\s*/).filter((word) => word !== '');
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const parseWords = (text: string | undefined): string[] => {
  const value = parseCell(text);
  return Array.isArray(value) ? value.filter((word): word is string => typeof word === 'string') : [];
};

const stringOrUndefined = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

function parseComments(text: string | undefined): DraftComment[] | undefined {
  const value = parseCell(text);
  if (!Array.isArray(value)) return undefined;
  return value.filter(isObject).map((said) => ({
    author: stringOrUndefined(said['created_by']),
    body: stringOrUndefined(said['comment']) ?? '',
    at: stringOrUndefined(said['created_at']),
  }));
}

interface Relation {
  readonly type: string;
  readonly other: string;
}

/** Reads relations from a list, or from an object with the related item by the kind of relation. */
function parseRelations(text: string | undefined): Relation[] {
  const value = parseCell(text);
  const list = Array.isArray(value)
    ? value.filter(isObject).map((one) => [one['type'], one['issue']])
    : Object.entries(isObject(value) ? value : {});
  return list.flatMap(([type, other]) =>
    typeof type === 'string' && typeof other === 'string' ? [{ type: type.toLowerCase(), other }] : [],
  );
}

function getItemId(row: ParsedRow): string | undefined {
  const own = row.get('identifier', 'id');
  if (own !== undefined && /-\d+$/.test(own)) return own;
  const [project, number] = [row.get('project identifier'), row.get('sequence id')];
  return project === undefined || number === undefined ? own : `${project}-${number}`;
}

interface ItemRelations {
  /** The items that state that they block an item, by its id. */
  readonly blockers: ReadonlyMap<string, readonly string[]>;
  readonly nesting: Nesting;
}

async function findRelations(rows: () => AsyncIterable<ParsedRow>): Promise<ItemRelations> {
  const parents = new Map<string, string>();
  const waits = new Map<string, string[]>();
  for await (const row of rows()) {
    const id = getItemId(row);
    if (id === undefined) continue;
    const parent = row.get('parent');
    if (parent !== undefined) parents.set(id, parent);
    for (const { type, other } of parseRelations(row.get('relations'))) {
      if (type === 'blocking') appendTo(waits, other, id);
    }
  }
  return { blockers: waits, nesting: flattenNesting(parents) };
}

function toDraft(row: ParsedRow, { blockers, nesting }: ItemRelations): ImportDraft {
  const id = getItemId(row);
  const relations = parseRelations(row.get('relations'));
  const comments = parseComments(row.get('comments'));
  const modules = parseWords(row.get('modules', 'module name'));
  const [epic] = modules;
  return {
    place: id ?? `line ${row.line}`,
    externalId: id,
    title: row.get('name') ?? '',
    description: row.get('description'),
    status: row.get('state name', 'state'),
    statusHint: row.get('completed at') === undefined ? undefined : 'done',
    priority: row.get('priority'),
    estimate: row.get('estimate'),
    dueDate: row.get('target date', 'due date'),
    parent: nesting.parents.get(id ?? ''),
    labels: parseWords(row.get('labels')),
    epic: epic === undefined ? undefined : { externalId: epic, title: epic },
    blockedBy: [
      ...relations.filter(({ type }) => type === 'blocked_by').map(({ other }) => other),
      ...(blockers.get(id ?? '') ?? []),
      ...(nesting.blockersById.get(id ?? '') ?? []),
    ],
    assignees: parseWords(row.get('assignees', 'assignee')),
    createdAt: row.get('created at'),
    updatedAt: row.get('updated at'),
    comments: comments ?? [],
    unimportedFields: [
      // Empty lists are written as `[]`, and empty counts as 0.
      ...row.listFilledColumns().flatMap(({ name, title }) => {
        const text = row.get(name) ?? '';
        return knownColumns.has(name) || /^(\[\]|\{\}|0|false)$/i.test(text) ? [] : [`column ${title}`];
      }),
      ...relations
        .filter(({ type }) => type !== 'blocked_by' && type !== 'blocking')
        .map(({ type }) => `relation ${type}`),
      ...(modules.length > 1 ? ['additional modules'] : []),
      ...(comments === undefined ? ['comments that are not valid JSON'] : []),
    ],
  };
}

/** Converts objects to rows. Nested lists become JSON within a cell. */
function readJsonRows(json: unknown): () => AsyncGenerator<ParsedRow> {
  const list = isObject(json) ? json['results'] : json;
  if (!Array.isArray(list)) throw new UnreadableFileError('the file is not a Plane export');
  const rows = list.filter(isObject).map((item, place) => {
    const cells = Object.values(item).map((value) =>
      typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value),
    );
    return new ParsedRow(Object.keys(item).map(normalizeColumnName), cells, place + 1);
  });
  if (rows.some((row) => row.get('name') === undefined && row.get('sequence id') === undefined))
    throw new UnreadableFileError('the file is not a Plane export: an item has no name');
  return async function* all() {
    yield* rows;
  };
}

async function openTableRows(source: TextSource): Promise<() => AsyncGenerator<ParsedRow>> {
  const table = await openTable(source);
  requireColumns(table, 'Plane', ['name'], ['state name', 'state'], ['sequence id', 'identifier', 'id']);
  return table.rows;
}

export async function openPlane(source: TextSource): Promise<OpenedFile> {
  const json = await tryReadJson(source);
  const rows = json === undefined ? await openTableRows(source) : readJsonRows(json);
  const relations = await findRelations(rows);
  return {
    notes: [],
    async *read(): AsyncGenerator<ParsedItem> {
      for await (const row of rows()) {
        const place = getItemId(row) ?? `line ${row.line}`;
        if (row.get('is draft')?.toLowerCase() === 'true') yield { place, skipped: 'draft' };
        else if (row.get('archived at') !== undefined) yield { place, skipped: 'archived item' };
        else yield { draft: toDraft(row, relations) };
      }
    },
  };
}
