/**
 * Finds the guards that controls remove, by marks in the product's source. In code a line `// guard: name`
 * marks the line after it. In SQL a comment `guard: name` begins the guard and a comment `end` ends it. The
 * guarded text may change as long as its mark stays. A missing or a repeated mark is an error, because the
 * control would then test something else or nothing.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';

/** The replacement of a guard's text. A function gets the guarded text, so that it can keep a part. */
export type Instead = string | ((guarded: string) => string);

/** A guard to remove, and its replacement. */
export interface GuardRemoval {
  readonly guard: string;
  readonly put: Instead;
}

type Kind = 'code' | 'sql';

interface Marked {
  readonly name: string;
  readonly text: string;
  /** The index in the source at which the guarded text begins. */
  readonly at: number;
}

/**
 * Matches the comment that marks a guard, and the line of code after it. A condition whose statement is on the next
 * line does not count, because taking it out would leave the statement.
 */
const guardCommentPattern = /^[ \t]*\/\/ guard: (.+)\n(?![ \t]*(?:if|while|for) .*\)$)(.*)$/gm;
const sqlMark = /\/\*(?:guard: ([^*]+)|end)\*\//g;

/** Lists the marked guards of a source. In SQL, guards may be nested. */
function markedIn(source: string, kind: Kind): Marked[] {
  if (kind === 'code')
    return [...source.matchAll(guardCommentPattern)].map(({ 0: all, 1: name = '', 2: text = '', index }) => ({
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
  /** The path from the repository's root. */
  readonly file: string;
}

let found: Map<string, Guard[]> | undefined;

/** Returns every guard that is marked in the product's source, by name. */
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

/** Returns the guard with the given name. Throws unless the guard is marked exactly once. */
export function findGuard(name: string): Guard {
  const [guard, another] = guardsInSource().get(name) ?? [];
  if (guard === undefined) throw new Error(`no guard is marked: ${name}`);
  if (another !== undefined) throw new Error(`marked twice: ${name} (${guard.file}, ${another.file})`);
  return guard;
}

/** Returns the removals of guards in code, or those of guards in SQL. */
export const removalsIn = (kind: Kind, removals: readonly GuardRemoval[]): GuardRemoval[] =>
  removals.filter(({ guard }) => findGuard(guard).kind === kind);

/** The names of the guards that controls remove. */
export const takenOut = new Set<string>();

/** Removes the guard with the given name, or replaces it by `put`. */
export function without(guard: string, put: Instead = ''): GuardRemoval {
  findGuard(guard);
  takenOut.add(guard);
  return { guard, put };
}

/** Replaces a guard by a condition that is never true, so that no row passes or is found. */
export const never = (guarded: string): string => `${guarded} and false`;

/**
 * Returns the text with the guard replaced; undefined if the text has no such guard. Throws if the guard
 * occurs twice or the replacement changes nothing.
 */
export function takeOut(text: string, { guard, put }: GuardRemoval, kind: Kind): string | undefined {
  const [place, another] = markedIn(text, kind).filter(({ name }) => name === guard);
  if (place === undefined) return undefined;
  if (another !== undefined) throw new Error(`twice in one text: ${guard}`);
  const instead = typeof put === 'string' ? put : put(place.text);
  if (instead.trim() === place.text.trim()) throw new Error(`nothing was taken out: ${guard}`);
  return text.slice(0, place.at) + instead + text.slice(place.at + place.text.length);
}

/** Replaces one piece of the guarded text. Throws unless the piece occurs exactly once. */
export const swapped =
  (piece: string, other: string) =>
  (guarded: string): string => {
    if (guarded.split(piece).length !== 2) throw new Error(`not once in what is guarded: ${piece}`);
    return guarded.replace(piece, () => other);
  };
