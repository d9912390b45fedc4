/**
 * The guards that controls take out, found in the product's source by a mark: in code a line `// guard: name`, which
 * means the line after it; in SQL a comment `guard: name` before what is meant, and a comment `end` behind it. What is
 * meant can be written otherwise as long as its mark stays. A mark that is missing, or that stands there twice, is a
 * fault: then something else would be tried, or nothing.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';

/** What takes the guard's place; it may say the guard again in part. */
export type Instead = string | ((guarded: string) => string);

/** A guard to be taken out, and what takes its place. */
export interface Removal {
  readonly guard: string;
  readonly put: Instead;
}

type Kind = 'code' | 'sql';

interface Marked {
  readonly name: string;
  readonly text: string;
  /** Where what it means begins. */
  readonly at: number;
}

/** The line after the mark. */
const lineMark = /^[ \t]*\/\/ guard: (.+)\n(.*)$/gm;
const sqlMark = /\/\*(?:guard: ([^*]+)|end)\*\//g;

/** In SQL one may stand within another. */
function markedIn(source: string, kind: Kind): Marked[] {
  if (kind === 'code')
    return [...source.matchAll(lineMark)].map(({ 0: all, 1: name = '', 2: text = '', index }) => ({
      ...{ name, text, at: index + all.length - text.length },
    }));
  const open: { readonly name: string; readonly at: number }[] = [];
  return [...source.matchAll(sqlMark)].flatMap(({ 0: mark, 1: name, index }) => {
    if (name !== undefined) open.push({ name, at: index + mark.length });
    const last = name === undefined ? open.pop() : undefined;
    return last === undefined ? [] : [{ ...last, text: source.slice(last.at, index) }];
  });
}

export interface Guard {
  readonly kind: Kind;
  /** From the repository's root. */
  readonly file: string;
}

let found: Map<string, Guard[]> | undefined;

/** Every guard that is marked in the product's source, by its name. */
export function guardsInSource(): ReadonlyMap<string, readonly Guard[]> {
  if (found !== undefined) return found;
  const all = new Map<string, Guard[]>();
  for (const file of globSync('{apps,libs}/*/src/**/*.ts', { cwd: repositoryRoot })) {
    const source = readFileSync(path.join(repositoryRoot, file), 'utf8');
    const guards = (['code', 'sql'] as const).flatMap((kind) =>
      markedIn(source, kind).map(({ name }) => ({ name, kind })),
    );
    const opened = source.match(/(?:\/\/ |\/\*)guard: /g)?.length ?? 0;
    if (opened !== guards.length) throw new Error(`${file} has a mark of a guard that means nothing`);
    for (const { name, kind } of guards) all.set(name, [...(all.get(name) ?? []), { kind, file }]);
  }
  return (found = all);
}

/** Throws unless it is marked once. */
export function findGuard(name: string): Guard {
  const [guard, another] = guardsInSource().get(name) ?? [];
  if (guard === undefined) throw new Error(`no guard is marked: ${name}`);
  if (another !== undefined) throw new Error(`marked twice: ${name} (${guard.file}, ${another.file})`);
  return guard;
}

/** Guards that are marked in code or in SQL. */
export const removalsIn = (kind: Kind, removals: readonly Removal[]): Removal[] =>
  removals.filter(({ guard }) => findGuard(guard).kind === kind);

/** The names that controls take out. */
export const takenOut = new Set<string>();

/** Without the guard of this name, or with something else in its place. */
export function without(guard: string, put: Instead = ''): Removal {
  findGuard(guard);
  takenOut.add(guard);
  return { guard, put };
}

/** Where nothing is let through, or nothing found, any more. */
export const never = (guarded: string): string => `${guarded} and false`;

/** The text with the guard taken out; undefined where it has none of this name. Throws where it has it twice. */
export function takeOut(text: string, { guard, put }: Removal, kind: Kind): string | undefined {
  const [place, another] = markedIn(text, kind).filter(({ name }) => name === guard);
  if (place === undefined) return undefined;
  if (another !== undefined) throw new Error(`twice in one text: ${guard}`);
  const instead = typeof put === 'string' ? put : put(place.text);
  if (instead.trim() === place.text.trim()) throw new Error(`nothing was taken out: ${guard}`);
  return text.slice(0, place.at) + instead + text.slice(place.at + place.text.length);
}

/** What is guarded with one piece of it written otherwise. Throws where that is not there once. */
export const swapped =
  (piece: string, other: string) =>
  (guarded: string): string => {
    if (guarded.split(piece).length !== 2) throw new Error(`not once in what is guarded: ${piece}`);
    return guarded.replace(piece, () => other);
  };
