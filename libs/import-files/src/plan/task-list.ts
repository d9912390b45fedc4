/**
 * Reads task lists in Markdown as items of a plan: those of spec-kit (`- [ ] T001 [P] …`), those of Kiro
 * (`- [ ] 2.1 …`), and plain ones. A checked task is done.
 */
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';

export type PlanItem = InputOf<typeof boardRegistry.plans.apply>['items'][number];

/** A task as it stands in the file. */
interface Task {
  readonly ref: string;
  readonly title: string;
  readonly isDone: boolean;
  /** True for tasks of spec-kit that can run beside others, `[P]`. */
  readonly isParallel: boolean;
  /** The kind of numbering, which says how tasks depend on their order. */
  readonly numbering: 'spec-kit' | 'kiro' | 'none';
  /** The labels of spec-kit in brackets, such as US1. */
  readonly labels: readonly string[];
  readonly phase: Phase;
  readonly parentRef: string | null;
  /** The lines below the task. */
  readonly notes: string[];
}

interface Phase {
  readonly title: string;
  /** True for the phases of spec-kit that can run at the same time, one for each user story. */
  readonly isUserStory: boolean;
}

const taskPattern = /^(?<indent>\s*)(?:[-*+]|\d+[.)])\s+\[(?<mark>[ xX~-])\]\*?\s+(?<text>.+?)\s*$/;
const headingPattern = /^#{1,6}\s+(?<title>.+?)\s*#*$/;
const specKitPattern = /^(?<ref>T\d{2,5})\b[.:]?\s*(?<text>.*)$/;
const kiroPattern = /^(?<ref>\d+(?:\.\d+)*)\.?\s+(?<text>.*)$/;
const fencePattern = /^\s*(?:```|~~~)/;
/** Files as spec-kit names them in tasks: relative paths with an extension. */
const filePattern = /(?<=^|[\s`("])(?:[\w@.-]+\/)+[\w@.-]*\w\.\w+(?=$|[\s`),.;:"])/g;

/** Reads the tasks of a file, in its order. */
export function readTaskList(text: string): PlanItem[] {
  const lines = text.split(/\r?\n/);
  const tasks = collectTasks(lines);
  const dependencies = findDependencies(tasks, lines);
  return tasks.map((task): PlanItem => {
    const notes = task.notes.join('\n').trim();
    const touches = [...new Set(`${task.title}\n${notes}`.match(filePattern))].slice(0, 50);
    const dependsOn = dependencies.get(task.ref);
    return {
      ...{ ref: task.ref, title: task.title },
      ...(notes !== '' && { description: notes }),
      ...(task.isDone && { status: 'done' as const }),
      ...(task.parentRef !== null && { parentRef: task.parentRef }),
      ...(dependsOn !== undefined && { dependsOn: [...dependsOn] }),
      ...(touches.length > 0 && { touches }),
      ...(task.labels.length > 0 && { labels: [...task.labels] }),
    };
  });
}

function collectTasks(lines: readonly string[]): Task[] {
  const tasks: Task[] = [];
  const refs = new Set<string>();
  /** The tasks above the current line that are less indented. */
  let ancestors: { readonly indent: number; readonly task: Task }[] = [];
  let phase: Phase = { title: '', isUserStory: false };
  let isInFence = false;
  for (const line of lines) {
    if (fencePattern.test(line)) isInFence = !isInFence;
    const heading = isInFence ? undefined : headingPattern.exec(line)?.groups?.['title'];
    if (heading !== undefined) {
      phase = { title: heading, isUserStory: /\buser story\b/i.test(heading) };
      ancestors = [];
      continue;
    }
    const found = isInFence ? undefined : taskPattern.exec(line)?.groups;
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    if (found === undefined) {
      const last = ancestors.at(-1);
      if (line.trim() !== '' && last !== undefined && indent > last.indent) last.task.notes.push(line.trim());
      else if (line.trim() !== '' && indent === 0) ancestors = [];
      continue;
    }
    ancestors = ancestors.filter((ancestor) => ancestor.indent < indent);
    const task = toTask(found['text'] ?? '', {
      ...{ isDone: /x/i.test(found['mark'] ?? ''), phase, refs },
      topRef: ancestors[0]?.task.ref ?? null,
    });
    refs.add(task.ref);
    tasks.push(task);
    ancestors.push({ indent, task });
  }
  return tasks;
}

interface TaskContext {
  readonly isDone: boolean;
  readonly phase: Phase;
  /** The refs of the tasks above. */
  readonly refs: ReadonlySet<string>;
  /** The ref of the outermost task that contains this one; stories nest one level deep. */
  readonly topRef: string | null;
}

function toTask(text: string, { isDone, phase, refs, topRef }: TaskContext): Task {
  const common = { isDone, phase, notes: [], labels: [] as string[], isParallel: false };
  const specKit = specKitPattern.exec(stripMarkup(text))?.groups;
  if (specKit !== undefined) {
    const marks: string[] = [];
    const title = (specKit['text'] ?? '').replace(/^(?:\[[^\]]*\]\s*)+/, (brackets) => {
      marks.push(...[...brackets.matchAll(/\[([^\]]*)\]/g)].map(([, mark = '']) => mark));
      return '';
    });
    return {
      ...{ ...common, numbering: 'spec-kit', parentRef: topRef },
      ...{ ref: specKit['ref'] ?? '', title: truncateTitle(title === '' ? text : title) },
      isParallel: marks.includes('P'),
      labels: marks.filter((mark) => mark !== 'P' && mark !== ''),
    };
  }
  const kiro = kiroPattern.exec(stripMarkup(text))?.groups;
  if (kiro !== undefined) {
    const ref = kiro['ref'] ?? '';
    const top = ref.split('.')[0] ?? ref;
    const parentRef = topRef ?? (top !== ref && refs.has(top) ? top : null);
    return { ...common, numbering: 'kiro', ref, title: truncateTitle(kiro['text'] ?? ''), parentRef };
  }
  const title = truncateTitle(stripMarkup(text));
  return { ...common, numbering: 'none', ref: uniqueRef(title, refs), title, parentRef: topRef };
}

const stripMarkup = (text: string): string => text.replaceAll(/\*\*|__/g, '').trim();

const maxTitleLength = 300;
const truncateTitle = (text: string): string =>
  Array.from(stripMarkup(text)).slice(0, maxTitleLength).join('');

/** Returns a ref made of the title, because a plain list has no numbers. */
function uniqueRef(title: string, refs: ReadonlySet<string>): string {
  const words = title
    .toLowerCase()
    .normalize('NFC')
    .match(/[\p{L}\p{N}]+/gu) ?? ['task'];
  const base = words.join('-').slice(0, 60);
  for (let number = 1; ; number += 1) {
    const ref = number === 1 ? base : `${base}-${number}`;
    if (!refs.has(ref)) return ref;
  }
}

const refPattern = /\bT\d{2,5}\b/g;
const refsIn = (text: string): string[] => text.match(refPattern) ?? [];

/** Finds the tasks that each task waits for; tasks of a plain list wait only for those that they name. */
function findDependencies(
  tasks: readonly Task[],
  lines: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Set(tasks.map(({ ref }) => ref));
  const dependencies = new Map([...inOrderOfPhases(tasks), ...inOrderOfNumbers(tasks)]);
  const add = (ref: string, blocker: string): void => {
    if (!known.has(ref) || !known.has(blocker) || ref === blocker) return;
    dependencies.set(ref, new Set([...(dependencies.get(ref) ?? []), blocker]));
  };
  for (const { ref, title, notes } of tasks) {
    const stated = /\bdepends on\b([^)]*)/i.exec([title, ...notes].join('\n'))?.[1] ?? '';
    const named = refsIn(stated).filter((blocker) => known.has(blocker));
    // The tasks that a task names replace those that its place implies.
    if (named.length > 0) dependencies.set(ref, new Set(named));
  }
  for (const line of lines) {
    if (taskPattern.test(line)) continue;
    const [, before = '', after = ''] = /^(.*?)\bblocks\b(.*)$/i.exec(line) ?? [];
    for (const blocker of refsIn(before)) for (const ref of refsIn(after)) add(ref, blocker);
  }
  return dependencies;
}

/**
 * Orders the tasks of spec-kit. Neighbors with `[P]` form a group; each group waits for the one before. The
 * phases of user stories wait for the phase before the first of them, and the next phase waits for them all.
 */
function* inOrderOfPhases(tasks: readonly Task[]): Generator<[string, ReadonlySet<string>]> {
  /** The refs for which the next group waits. */
  let previous: string[] = [];
  let beforeStories: string[] = [];
  const endsOfStories: string[] = [];
  let group: Task[] = [];
  let phase: Phase | undefined;
  for (const task of tasks.filter(({ numbering }) => numbering === 'spec-kit')) {
    const isSamePhase = task.phase === phase;
    if (group.length > 0 && !(isSamePhase && task.isParallel && group[0]?.isParallel === true)) {
      previous = group.map(({ ref }) => ref);
      group = [];
    }
    if (!isSamePhase) {
      if (phase?.isUserStory === true) endsOfStories.push(...previous);
      else beforeStories = previous;
      if (task.phase.isUserStory) previous = beforeStories;
      else if (endsOfStories.length > 0) previous = endsOfStories.splice(0);
      phase = task.phase;
    }
    group.push(task);
    yield [task.ref, new Set(previous)];
  }
}

/** Orders the tasks of Kiro: each waits for the one before it on its level, a first subtask for the task before its parent. */
function* inOrderOfNumbers(tasks: readonly Task[]): Generator<[string, ReadonlySet<string>]> {
  let previousTop: string | undefined;
  let currentTop: string | undefined;
  const lastChild = new Map<string, string>();
  for (const { ref, parentRef, numbering } of tasks) {
    if (numbering !== 'kiro') continue;
    let blocker: string | undefined;
    if (parentRef === null) {
      previousTop = currentTop;
      currentTop = ref;
      blocker = previousTop;
    } else {
      blocker = lastChild.get(parentRef) ?? previousTop;
      lastChild.set(parentRef, ref);
    }
    yield [ref, new Set(blocker === undefined ? [] : [blocker])];
  }
}
