/** A segment as an automaton: states are numbers, a step reads one character of a set, a free step reads nothing. */
import { anyCodePoint, type CodePoints } from './code-points.ts';
import { type Segment } from './glob-syntax.ts';

export interface Step {
  readonly of: CodePoints;
  readonly to: number;
}

export interface Automaton {
  readonly start: number;
  readonly end: number;
  readonly size: number;
  /** By state. */
  readonly steps: readonly (readonly Step[])[];
  readonly free: readonly (readonly number[])[];
}

/** A pattern is compared with many others: its automata last as long as it does. */
const built = new WeakMap<Segment, Automaton>();

export function automatonOf(segment: Segment): Automaton {
  const known = built.get(segment);
  if (known !== undefined) return known;
  const automaton = build(segment);
  built.set(segment, automaton);
  return automaton;
}

/** Builds it as Thompson did: each piece between two states, one after the other. */
function build(segment: Segment): Automaton {
  const steps: Step[][] = [];
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
          steps[at]?.push({ of: piece.of, to: next });
          break;
        case 'any':
          // The loop is on a state of its own, so that coming back to `at` by another way does not read on.
          free[at]?.push(next);
          steps[next]?.push({ of: anyCodePoint, to: next });
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
  return { start, end, size: steps.length, steps, free };
}
