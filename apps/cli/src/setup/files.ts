/** Applies the parts of a setup to files, and takes them back. */
import { access, realpath, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { readTextFile, writeFileAtomically } from '../mcp/install.ts';
import { type SetupClientName, setupClientNames, type SetupScope } from './clients.ts';
import { partsOf, type PartState, type SetupOptions, type SetupPart } from './parts.ts';
import { type ChangeRecord, describeChange, findOriginal, readRecord, writeRecord } from './record.ts';

export interface PartResult {
  readonly part: SetupPart;
  readonly change: 'added' | 'updated' | 'unchanged' | 'removed' | 'kept';
}

/** Groups the parts by file, because a client may have several parts in one file. */
const groupByFile = (parts: readonly SetupPart[]): [string, SetupPart[]][] =>
  [...new Set(parts.map(({ file }) => file))].map((file) => [
    file,
    parts.filter((part) => part.file === file),
  ]);

/** Returns the text of the file, or undefined if the file does not exist. */
async function readIfExists(file: string): Promise<string | undefined> {
  const doesExist = await access(file).then(
    () => true,
    () => false,
  );
  return doesExist ? readTextFile(file) : undefined;
}

/** Runs the work with the record of changes, and stores the record if it changed. */
async function withRecord<Result>(work: (record: ChangeRecord) => Promise<Result>): Promise<Result> {
  const record = await readRecord();
  const before = JSON.stringify([...record]);
  const result = await work(record);
  if (JSON.stringify([...record]) !== before) await writeRecord(record);
  return result;
}

const changeOf = (state: PartState): PartResult['change'] =>
  state === 'missing' ? 'added' : state === 'outdated' ? 'updated' : 'unchanged';

/**
 * Adds the parts to their files. A file that only an earlier setup changed is changed from its original, so
 * that it can still be restored.
 */
export const addParts = (parts: readonly SetupPart[], options: SetupOptions): Promise<PartResult[]> =>
  withRecord(async (record) => {
    const results: PartResult[] = [];
    for (const [file, own] of groupByFile(parts)) {
      const before = await readIfExists(file);
      const states = own.map((part) => part.state(before ?? '', options));
      results.push(...own.map((part, at) => ({ part, change: changeOf(states[at] ?? 'current') })));
      if (states.every((state) => state === 'current')) continue;
      const original = before === undefined ? { text: undefined } : findOriginal(record, file, before);
      const start = original === undefined ? before : original.text;
      const after = own.reduce(
        (text, part) => (part.state(text, options) === 'current' ? text : part.add(text, options)),
        start ?? '',
      );
      await writeFileAtomically(file, after, own.some(({ isExecutable }) => isExecutable) ? 0o777 : 0o666);
      // An original that has an earlier version of the parts must not be restored.
      const isOriginal = original !== undefined || states.every((state) => state === 'missing');
      if (isOriginal) record.set(file, describeChange(start, after));
      else record.delete(file);
    }
    return results;
  });

/** Deletes the file, and the folders that it leaves empty. */
async function deleteFile(file: string, root: string): Promise<void> {
  await rm(file);
  for (let folder = path.dirname(file); folder !== root; folder = path.dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isRemoved || folder === path.dirname(folder)) break;
  }
}

/**
 * Removes the parts from their files. Files that nothing else changed get their original content; otherwise
 * only the parts are removed. Files in `neededFiles` stay, because another client uses them.
 */
export const removeParts = (
  parts: readonly SetupPart[],
  { neededFiles, root }: { readonly neededFiles: ReadonlySet<string>; readonly root: string },
): Promise<PartResult[]> =>
  withRecord(async (record) => {
    const results: PartResult[] = [];
    for (const [file, own] of groupByFile(parts)) {
      const before = await readIfExists(file);
      const present = own.filter((part) => part.state(before ?? '', undefined) !== 'missing');
      const isNeeded = neededFiles.has(await realpath(file).catch(() => file));
      for (const part of own) {
        const isPresent = present.includes(part);
        results.push({ part, change: !isPresent ? 'unchanged' : isNeeded ? 'kept' : 'removed' });
      }
      if (before === undefined || present.length === 0 || isNeeded) continue;
      const original = findOriginal(record, file, before);
      const surgical = (): string => present.reduceRight((text, part) => part.remove(text), before);
      const after = original === undefined ? surgical() || undefined : original.text;
      if (after === undefined) await deleteFile(file, root);
      else await writeFileAtomically(file, after);
      record.delete(file);
    }
    return results;
  });

export interface PartCheck {
  readonly part: SetupPart;
  readonly state: PartState;
}

/** Checks which parts are present. Without options, parts that were added with any options are current. */
export const checkParts = (parts: readonly SetupPart[], options?: SetupOptions): Promise<PartCheck[]> =>
  Promise.all(
    parts.map(async (part) => ({
      part,
      state: part.state((await readIfExists(part.file)) ?? '', options),
    })),
  );

/**
 * Returns the shared files of the other clients that are set up in the same scope. A client is set up if it
 * has its MCP entry and its hooks.
 */
export async function findNeededFiles(
  client: SetupClientName,
  scope: SetupScope,
  root: string,
): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  for (const other of setupClientNames) {
    if (other === client) continue;
    const checks = await checkParts(partsOf(other, scope, root)).catch(() => []);
    const isPresent = (title: string): boolean =>
      checks.some(({ part, state }) => part.title === title && state !== 'missing');
    if (!isPresent('MCP server') || !isPresent('hooks')) continue;
    for (const { part } of checks) {
      if (part.isShared) needed.add(await realpath(part.file).catch(() => part.file));
    }
  }
  return needed;
}
