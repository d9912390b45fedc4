/** Recognizes the program that wrote a file by the names of its fields. */
import { columnName, openTable } from './csv.ts';
import { jsonIfAny } from './formats/json.ts';
import { type FileFormat } from './open.ts';
import { type Source } from './source.ts';
import { isObject } from './unread.ts';

const ofItem = (item: unknown): FileFormat | undefined => {
  if (Array.isArray(item)) return ofItem(item[0]);
  if (!isObject(item)) return undefined;
  if ('fields' in item && 'key' in item) return 'jira';
  if ('content' in item || ('number' in item && 'title' in item)) return 'github';
  if ('identifier' in item && 'title' in item) return 'linear';
  const names = new Set(Object.keys(item).map(columnName));
  return names.has('name') && (names.has('state') || names.has('state name')) ? 'plane' : undefined;
};

function ofJson(json: unknown): FileFormat | undefined {
  // Several pages of answers form a list of lists.
  if (Array.isArray(json)) return ofItem(json[0]) ?? ofJson(json[0]);
  if (!isObject(json)) return undefined;
  const { stories, cards, lists, issues, items, results, data, nodes } = json;
  if (Array.isArray(stories)) return 'muster';
  if (Array.isArray(cards) && Array.isArray(lists)) return 'trello';
  if (Array.isArray(items)) return ofItem(items) ?? 'github';
  if (Array.isArray(results)) return 'plane';
  if (Array.isArray(issues)) return ofItem(issues);
  if (isObject(data) || Array.isArray(nodes) || isObject(issues)) return 'linear';
  return undefined;
}

function ofTable(head: readonly string[]): FileFormat {
  const names = new Set(head.map(columnName));
  const has = (...wanted: readonly string[]): boolean => wanted.every((name) => names.has(name));
  if (has('issue key', 'summary', 'status')) return 'jira';
  if (has('id', 'title', 'status', 'team')) return 'linear';
  const isNumbered = ['sequence id', 'identifier', 'id'].some((name) => has(name));
  if (has('name') && isNumbered && (has('state') || has('state name'))) return 'plane';
  return 'csv';
}

/** Returns undefined for JSON of an unknown program. Throws NoImport if the file cannot be read. */
export async function recognizeFormat(source: Source): Promise<FileFormat | undefined> {
  const json = await jsonIfAny(source);
  return json === undefined ? ofTable((await openTable(source)).head) : ofJson(json);
}
