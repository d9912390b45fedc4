/**
 * A path segment as a nondeterministic automaton. States are numbers, a step reads one character of a set,
 * and a free step reads none.
 */
import { anyCodePoint, type CodePoints, type Segment } from '@muster/contract/globs';

export interface AutomatonEdge {
  readonly codePoints: CodePoints;
  readonly targetState: number;
}

export interface Automaton {
  readonly startState: number;
  readonly endState: number;
  readonly stateCount: number;
  /** The steps from each state, by the number of the state. A step reads one character. */
  readonly edgesByState: readonly (readonly AutomatonEdge[])[];
  readonly epsilonEdgesByState: readonly (readonly number[])[];
}

/** A cache of automata by segment. A pattern is compared with many others. */
const automatonCache = new WeakMap<Segment, Automaton>();

export function automatonOf(segment: Segment): Automaton {
  const known = automatonCache.get(segment);
  if (known !== undefined) return known;
  const automaton = buildAutomaton(segment);
  automatonCache.set(segment, automaton);
  return automaton;
}

/**
 * Builds the automaton by Thompson's construction: each piece lies between two states, one after the other.
 */
function buildAutomaton(segment: Segment): Automaton {
  const steps: AutomatonEdge[][] = [];
  const free: number[][] = [];
  const state = (): number => {
    free.push([]);
    return steps.push([]) - 1;
  };
  const append = (pieces: Segment, from: number): number => {
    let at = from;
    for (const piece of pieces) {
      const next = state();
      switch (piece.kind) {
        case 'one':
          steps[at]?.push({ codePoints: piece.of, targetState: next });
          break;
        case 'any':
          // The loop gets a state of its own. If the loop were on `at`, every other path that leads to `at`
          // could read more characters there.
          free[at]?.push(next);
          steps[next]?.push({ codePoints: anyCodePoint, targetState: next });
          break;
        case 'choice':
          for (const option of piece.options) {
            const entry = state();
            free[at]?.push(entry);
            free[append(option, entry)]?.push(next);
          }
          break;
      }
      at = next;
    }
    return at;
  };
  const start = state();
  const end = append(segment, start);
  return {
    startState: start,
    endState: end,
    stateCount: steps.length,
    edgesByState: steps,
    epsilonEdgesByState: free,
  };
}
