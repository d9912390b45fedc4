/**
 * Decides exactly if any path matches two globs. It searches the product of the two automata for an accepted
 * path, and that path is the witness. The search is breadth-first, so the witness is short.
 */
import { dot, intersect, sample } from './code-points.ts';
import { type Glob, type Segment } from './glob-syntax.ts';
import { type Automaton, automatonOf } from './segment-automaton.ts';

/** The error of a search that needs more steps than allowed. The caller has to send simpler patterns. */
export class TooIntricate extends Error {
  constructor() {
    super('the patterns are too complex to compare');
    this.name = 'TooIntricate';
  }
}

/** A budget of steps that one or more searches share. */
export class Effort {
  private left: number;

  constructor(steps: number) {
    this.left = steps;
  }

  spend(steps = 1): void {
    this.left -= steps;
    if (this.left < 0) throw new TooIntricate();
  }
}

/** The first path that reached a state, as a linked list: the previous element, and the last item read. */
interface Way<Read> {
  readonly from: Way<Read> | null;
  readonly read: Read | null;
}

function readOn<Read>(way: Way<Read>): Read[] {
  const reads: Read[] = [];
  for (let at: Way<Read> | null = way; at !== null; at = at.from) if (at.read !== null) reads.push(at.read);
  return reads.reverse();
}

/**
 * Searches pairs of states breadth-first. `follow` reports each next state with the item read to reach it.
 */
function search<State, Read>(
  start: State,
  keyOf: (state: State) => number,
  isEnd: (state: State) => boolean,
  follow: (state: State, reach: (next: State, read: Read | null) => void) => void,
  effort: Effort,
): Read[] | undefined {
  const seen = new Set([keyOf(start)]);
  let edge: { state: State; way: Way<Read> }[] = [{ state: start, way: { from: null, read: null } }];
  while (edge.length > 0) {
    const next: typeof edge = [];
    for (const { state, way } of edge) {
      if (isEnd(state)) return readOn(way);
      effort.spend();
      follow(state, (reached, read) => {
        const key = keyOf(reached);
        if (seen.has(key)) return;
        seen.add(key);
        next.push({ state: reached, way: { from: way, read } });
      });
    }
    edge = next;
  }
  return undefined;
}

/**
 * The part of a segment that was read so far: nothing, one dot (1), two dots, or a name. No path has an empty
 * segment, `.` or `..`.
 */
const nothing = 0;
const twoDots = 2;
const aName = 3;

/** Returns the part of a segment that was read after one more dot. Three dots are a valid name. */
const afterDot = (before: number): number => (before < twoDots ? before + 1 : aName);

/** Returns the shortest segment that both automata accept; undefined if there is none. */
function commonSegment(a: Automaton, b: Automaton, effort: Effort): string | undefined {
  interface State {
    readonly a: number;
    readonly b: number;
    readonly read: number;
  }
  const chars = search<State, string>(
    { a: a.start, b: b.start, read: nothing },
    (state) => (state.a * b.size + state.b) * 4 + state.read,
    (state) => state.a === a.end && state.b === b.end && state.read === aName,
    (state, reach) => {
      const [freeA = [], freeB = []] = [a.free[state.a], b.free[state.b]];
      effort.spend(freeA.length + freeB.length);
      for (const to of freeA) reach({ ...state, a: to }, null);
      for (const to of freeB) reach({ ...state, b: to }, null);
      for (const stepA of a.steps[state.a] ?? []) {
        for (const stepB of b.steps[state.b] ?? []) {
          // Classes of many ranges take longer to intersect.
          effort.spend(1 + Math.trunc((stepA.of.length + stepB.of.length) / 8));
          const both = intersect(stepA.of, stepB.of);
          // A dot could complete the invalid names `.` or `..`, where another character that both classes
          // contain completes a valid name. The search therefore tries a dot and another character.
          const char = sample(both.flatMap(withoutDot));
          if (char !== undefined) reach({ a: stepA.to, b: stepB.to, read: aName }, char);
          if (both.some(([from, to]) => from <= dot && dot <= to))
            reach({ a: stepA.to, b: stepB.to, read: afterDot(state.read) }, '.');
        }
      }
    },
    effort,
  );
  return chars?.join('');
}

const withoutDot = ([from, to]: readonly [number, number]): [number, number][] => {
  if (dot < from || to < dot) return [[from, to]];
  const parts: [number, number][] = [];
  if (from < dot) parts.push([from, dot - 1]);
  if (dot < to) parts.push([dot + 1, to]);
  return parts;
};

const anything: Segment = [{ kind: 'any' }];

/** Returns a path that matches both globs; undefined if none exists. Throws TooIntricate. */
export function commonPath(a: Glob, b: Glob, effort: Effort): string | undefined {
  const found = new Map<number, string | null>();
  const wildcard = automatonOf(anything);
  const automata = {
    a: a.map((segment) => automatonOf(segment ?? anything)),
    b: b.map((segment) => automatonOf(segment ?? anything)),
  };
  const common = (i: number, j: number): string | null => {
    const key = i * (b.length + 1) + j;
    let segment = found.get(key);
    if (segment === undefined) {
      segment = commonSegment(automata.a[i] ?? wildcard, automata.b[j] ?? wildcard, effort) ?? null;
      found.set(key, segment);
    }
    return segment;
  };
  interface State {
    readonly a: number;
    readonly b: number;
  }
  const segments = search<State, string>(
    { a: 0, b: 0 },
    (state) => state.a * (b.length + 1) + state.b,
    (state) => state.a === a.length && state.b === b.length,
    (state, reach) => {
      const anyA = state.a < a.length && a[state.a] === null;
      const anyB = state.b < b.length && b[state.b] === null;
      if (anyA) reach({ ...state, a: state.a + 1 }, null);
      if (anyB) reach({ ...state, b: state.b + 1 }, null);
      if (state.a >= a.length || state.b >= b.length) return;
      // If both globs are at a `**`, no segment has to be consumed. Leaving either `**` reaches every state
      // that consuming a segment would reach.
      if (anyA && anyB) return;
      const segment = common(state.a, state.b);
      if (segment === null) return;
      reach({ a: anyA ? state.a : state.a + 1, b: anyB ? state.b : state.b + 1 }, segment);
    },
    effort,
  );
  return segments?.join('/');
}
