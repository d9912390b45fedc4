/** Recognizes the program that wrote a file by the names of its fields. */
import { normalizeColumnName, openTable } from './csv.ts';
import { tryReadJson } from './formats/json.ts';
import { type FileFormat } from './open.ts';
import { type TextSource } from './source.ts';
import { isObject } from './unread.ts';

const recognizeItem = (item: unknown): FileFormat | undefined => {
  if (Array.isArray(item)) return recognizeItem(item[0]);
  if (!isObject(item)) return undefined;
  if ('fields' in item && 'key' in item) return 'jira';
  if ('content' in item || ('number' in item && 'title' in item)) return 'github';
  if ('identifier' in item && 'title' in item) return 'linear';
  const names = new Set(Object.keys(item).map(normalizeColumnName));
  return names.has('name') && (names.has('state') || names.has('state name')) ? 'plane' : undefined;
};

function recognizeJson(json: unknown): FileFormat | undefined {
  // Several pages of answers form a list of lists.
  if (Array.isArray(json)) return recognizeItem(json[0]) ?? recognizeJson(json[0]);
  if (!isObject(json)) return undefined;
  const { stories, cards, lists, issues, items, results, data, nodes } = json;
  if (Array.isArray(stories)) return 'muster';
  if (Array.isArray(cards) && Array.isArray(lists)) return 'trello';
  if (Array.isArray(items)) return recognizeItem(items) ?? 'github';
  if (Array.isArray(results)) return 'plane';
  if (Array.isArray(issues)) return recognizeItem(issues);
  if (isObject(data) || Array.isArray(nodes) || isObject(issues)) return 'linear';
  return undefined;
}

function recognizeTable(head: readonly string[]): FileFormat {
  const names = new Set(head.map(normalizeColumnName));
  const has = (...wanted: readonly string[]): boolean => wanted.every((name) => names.has(name));
  if (has('issue key', 'summary', 'status')) return 'jira';
  if (has('id', 'title', 'status', 'team')) return 'linear';
  const isNumbered = ['sequence id', 'identifier', 'id'].some((name) => has(name));
  if (has('name') && isNumbered && (has('state') || has('state name'))) return 'plane';
  return 'csv';
}

/** Returns undefined for JSON of an unknown program. Throws UnreadableFileError if the file cannot be read. */
export async function recognizeFormat(source: TextSource): Promise<FileFormat | undefined> {
  const json = await tryReadJson(source);
  return json === undefined ? recognizeTable((await openTable(source)).head) : recognizeJson(json);
}
