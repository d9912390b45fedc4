/**
 * Decides exactly if any path matches two globs. It searches the product of the two automata for an accepted
 * path, and that path is the witness. The search is breadth-first, so the witness is short.
 */
import {
  dotCodePoint,
  type Glob,
  intersectCodePoints,
  pickReadableCharacter,
  type Segment,
} from '@muster/contract/globs';
import { type Automaton, automatonOf } from './segment-automaton.ts';

/** The error of a search that needs more steps than allowed. The caller has to send simpler patterns. */
export class PatternsTooComplex extends Error {
  constructor() {
    super('the patterns are too complex to compare');
    this.name = 'PatternsTooComplex';
  }
}

/** A budget of steps that one or more searches share. Steps are also spent from the parent budget, if any. */
export class StepBudget {
  private stepsLeft: number;
  private readonly parent: StepBudget | undefined;

  constructor(steps: number, parent?: StepBudget) {
    this.stepsLeft = steps;
    this.parent = parent;
  }

  /** True if the budget refused a step. It refuses all later steps as well. */
  get isExhausted(): boolean {
    return this.stepsLeft < 0;
  }

  spend(steps = 1): void {
    this.parent?.spend(steps);
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0) throw new PatternsTooComplex();
  }
}

/** The first path that reached a state, as a linked list: the previous element, and the last item read. */
interface SearchPath<Read> {
  readonly previous: SearchPath<Read> | null;
  readonly item: Read | null;
}

function itemsOnPath<Read>(searchPath: SearchPath<Read>): Read[] {
  const reads: Read[] = [];
  for (let at: SearchPath<Read> | null = searchPath; at !== null; at = at.previous)
    if (at.item !== null) reads.push(at.item);
  return reads.reverse();
}

/**
 * Searches pairs of states breadth-first. `follow` reports each next state with the item read to reach it.
 */
function searchBreadthFirst<State, Read>(
  start: State,
  keyOf: (state: State) => number,
  isEnd: (state: State) => boolean,
  visitNext: (state: State, reach: (next: State, read: Read | null) => void) => void,
  stepBudget: StepBudget,
): Read[] | undefined {
  const seen = new Set([keyOf(start)]);
  let edge: { state: State; way: SearchPath<Read> }[] = [
    { state: start, way: { previous: null, item: null } },
  ];
  while (edge.length > 0) {
    const next: typeof edge = [];
    for (const { state, way } of edge) {
      if (isEnd(state)) return itemsOnPath(way);
      stepBudget.spend();
      visitNext(state, (reached, read) => {
        const key = keyOf(reached);
        if (seen.has(key)) return;
        seen.add(key);
        next.push({ state: reached, way: { previous: way, item: read } });
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
const nothingRead = 0;
const twoDotsRead = 2;
const nameRead = 3;

/** Returns the part of a segment that was read after one more dot. Three dots are a valid name. */
const readAfterDot = (readBefore: number): number => (readBefore < twoDotsRead ? readBefore + 1 : nameRead);

/** Returns the shortest segment that both automata accept; undefined if there is none. */
function commonSegment(a: Automaton, b: Automaton, stepBudget: StepBudget): string | undefined {
  interface State {
    readonly stateInA: number;
    readonly stateInB: number;
    readonly read: number;
  }
  const chars = searchBreadthFirst<State, string>(
    { stateInA: a.startState, stateInB: b.startState, read: nothingRead },
    (state) => (state.stateInA * b.stateCount + state.stateInB) * 4 + state.read,
    (state) => state.stateInA === a.endState && state.stateInB === b.endState && state.read === nameRead,
    (state, reach) => {
      const [freeA = [], freeB = []] = [
        a.epsilonEdgesByState[state.stateInA],
        b.epsilonEdgesByState[state.stateInB],
      ];
      stepBudget.spend(freeA.length + freeB.length);
      for (const to of freeA) reach({ ...state, stateInA: to }, null);
      for (const to of freeB) reach({ ...state, stateInB: to }, null);
      for (const stepA of a.edgesByState[state.stateInA] ?? []) {
        for (const stepB of b.edgesByState[state.stateInB] ?? []) {
          // Classes of many ranges take longer to intersect.
          stepBudget.spend(1 + Math.trunc((stepA.codePoints.length + stepB.codePoints.length) / 8));
          const both = intersectCodePoints(stepA.codePoints, stepB.codePoints);
          // A dot could complete the invalid names `.` or `..`, where another character that both classes
          // contain completes a valid name. The search therefore tries a dot and another character.
          const char = pickReadableCharacter(both.flatMap(rangesWithoutDot));
          if (char !== undefined)
            reach({ stateInA: stepA.targetState, stateInB: stepB.targetState, read: nameRead }, char);
          if (both.some(([from, to]) => from <= dotCodePoint && dotCodePoint <= to))
            reach(
              { stateInA: stepA.targetState, stateInB: stepB.targetState, read: readAfterDot(state.read) },
              '.',
            );
        }
      }
    },
    stepBudget,
  );
  return chars?.join('');
}

const rangesWithoutDot = ([from, to]: readonly [number, number]): [number, number][] => {
  if (dotCodePoint < from || to < dotCodePoint) return [[from, to]];
  const parts: [number, number][] = [];
  if (from < dotCodePoint) parts.push([from, dotCodePoint - 1]);
  if (dotCodePoint < to) parts.push([dotCodePoint + 1, to]);
  return parts;
};

const wildcardSegment: Segment = [{ kind: 'any' }];

/** Returns a path that matches both globs; undefined if none exists. Throws PatternsTooComplex. */
export function commonPath(a: Glob, b: Glob, stepBudget: StepBudget): string | undefined {
  const found = new Map<number, string | null>();
  const wildcard = automatonOf(wildcardSegment);
  const automata = {
    a: a.map((segment) => automatonOf(segment ?? wildcardSegment)),
    b: b.map((segment) => automatonOf(segment ?? wildcardSegment)),
  };
  const common = (i: number, j: number): string | null => {
    const key = i * (b.length + 1) + j;
    let segment = found.get(key);
    if (segment === undefined) {
      segment = commonSegment(automata.a[i] ?? wildcard, automata.b[j] ?? wildcard, stepBudget) ?? null;
      found.set(key, segment);
    }
    return segment;
  };
  interface State {
    readonly indexInA: number;
    readonly indexInB: number;
  }
  const segments = searchBreadthFirst<State, string>(
    { indexInA: 0, indexInB: 0 },
    (state) => state.indexInA * (b.length + 1) + state.indexInB,
    (state) => state.indexInA === a.length && state.indexInB === b.length,
    (state, reach) => {
      const anyA = state.indexInA < a.length && a[state.indexInA] === null;
      const anyB = state.indexInB < b.length && b[state.indexInB] === null;
      if (anyA) reach({ ...state, indexInA: state.indexInA + 1 }, null);
      if (anyB) reach({ ...state, indexInB: state.indexInB + 1 }, null);
      if (state.indexInA >= a.length || state.indexInB >= b.length) return;
      // If both globs are at a `**`, no segment has to be consumed. Leaving either `**` reaches every state
      // that consuming a segment would reach.
      if (anyA && anyB) return;
      const segment = common(state.indexInA, state.indexInB);
      if (segment === null) return;
      reach(
        {
          indexInA: anyA ? state.indexInA : state.indexInA + 1,
          indexInB: anyB ? state.indexInB : state.indexInB + 1,
        },
        segment,
      );
    },
    stepBudget,
  );
  return segments?.join('/');
}
