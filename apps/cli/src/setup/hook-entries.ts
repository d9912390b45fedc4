/** Hooks in a settings file that a client shares with other hooks. Other entries stay unchanged. */
import { type JSONPath } from 'jsonc-parser';
import { isHookCommand } from '../hook/names.ts';
import { editJson, readJsonValue } from '../mcp/edit.ts';

/** An entry of `hooks` in the file: the client's name of the event, and the value. */
export interface HookEntry {
  readonly event: string;
  readonly value: object;
}

interface FoundHook {
  readonly path: JSONPath;
  /** The entry of the list, which has other hooks too if it is a group. */
  readonly entry: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const commandOf = (entry: unknown): unknown => (isObject(entry) ? entry['command'] : undefined);

/** Finds the hooks of Muster, both as direct entries and within groups. */
function findHooks(text: string, file: string): FoundHook[] {
  const hooks = readJsonValue(text, file, ['hooks']);
  if (!isObject(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, entries]) =>
    listOf(entries).flatMap((entry, index): FoundHook[] => {
      const path = ['hooks', event, index];
      if (isHookCommand(commandOf(entry))) return [{ path, entry }];
      const inner = listOf(isObject(entry) ? entry['hooks'] : undefined);
      const own = inner.flatMap((one, at) => (isHookCommand(commandOf(one)) ? [at] : []));
      if (own.length === 0) return [];
      return own.length === inner.length
        ? [{ path, entry }]
        : own.map((at) => ({ path: [...path, 'hooks', at], entry: inner[at] }));
    }),
  );
}

const isSame = (value: unknown, other: unknown): boolean => JSON.stringify(value) === JSON.stringify(other);

export type HookState = 'missing' | 'outdated' | 'current';

/** Compares the hooks of the file with the entries. Without `isExact`, only their events are compared. */
export function hookStateOf(
  text: string,
  file: string,
  entries: readonly HookEntry[],
  isExact: boolean,
): HookState {
  const found = findHooks(text, file);
  if (found.length === 0) return 'missing';
  const has = ({ event, value }: HookEntry): boolean =>
    found.some(({ path, entry }) => path[1] === event && (!isExact || isSame(entry, value)));
  return found.length === entries.length && entries.every(has) ? 'current' : 'outdated';
}

/** Removes the value at the path, and the lists and objects that it leaves empty. */
function removeAt(text: string, file: string, path: JSONPath): string {
  let edited = editJson(text, file, path, undefined);
  for (let end = path.length - 1; end > 0; end -= 1) {
    const container = readJsonValue(edited, file, path.slice(0, end));
    if (Object.keys(container ?? {}).length > 0) break;
    edited = editJson(edited, file, path.slice(0, end), undefined);
  }
  return edited;
}

/** Removes the hooks of Muster. */
export function removeHooks(text: string, file: string): string {
  // Later entries of a list are removed first, so that the indices of earlier ones stay valid.
  return findHooks(text, file)
    .toReversed()
    .reduce((edited, { path }) => removeAt(edited, file, path), text);
}

/** Adds the entries after the other hooks of their events. Earlier hooks of Muster are replaced. */
export function putHooks(
  text: string,
  file: string,
  entries: readonly HookEntry[],
  fields: Readonly<Record<string, unknown>>,
): string {
  let edited = removeHooks(text, file);
  for (const [name, value] of Object.entries(fields))
    if (readJsonValue(edited, file, [name]) === undefined) edited = editJson(edited, file, [name], value);
  for (const { event, value } of entries) {
    const path = ['hooks', event];
    const length = listOf(readJsonValue(edited, file, path)).length;
    edited = editJson(edited, file, length === 0 ? path : [...path, length], length === 0 ? [value] : value);
  }
  return edited;
}
