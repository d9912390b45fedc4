/** One step of the comparison. It does one thing to the model and to Postgres, and then compares both. */
import { visibleTransitions } from '@muster/delivery';
import type fc from 'fast-check';
import { type Model, statesOf, viewOf } from './model.ts';
import { type Real } from './real.ts';
import { type Forecast } from './verdicts.ts';
import { type NewCall } from '../../team.ts';

/**
 * The plan of a step. It is undefined if the step does not apply. `call: null` marks a step that has already
 * changed both sides without a call.
 */
export type CommandPlan =
  | undefined
  | { readonly call: null }
  | { readonly call: NewCall; readonly verdict: Forecast };

/** The error of a step after which the model and Postgres differ. */
export class Divergence extends Error {}

export class Command implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #args: unknown;
  readonly #plan: (model: Model, real: Real) => Promise<CommandPlan>;

  constructor(name: string, args: unknown, plan: (model: Model, real: Real) => Promise<CommandPlan>) {
    this.#name = name;
    this.#args = args;
    this.#plan = plan;
  }

  check(): boolean {
    return true;
  }

  toString(): string {
    return `${this.#name} ${JSON.stringify(this.#args)}`;
  }

  async run(model: Model, real: Real): Promise<void> {
    const before = statesOf(model);
    const plan = await this.#plan(model, real);
    if (plan === undefined) return;
    real.count(this.#name);
    if (plan.call !== null) {
      const answer = await real.call(plan.call);
      if ('refused' in answer) real.count(`refused: ${answer.refused}`);
      this.#compare(plan.verdict, answer);
    }
    this.#requireArrows(before, statesOf(model));
    const [view, expected] = [await real.view(), viewOf(model)];
    for (const [what, wanted] of Object.entries(expected)) this.#same(view[what], wanted, what);
  }

  /**
   * Checks that each execution stayed in its state or followed a transition of the product's table. The model
   * does not use that table.
   */
  #requireArrows(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
    for (const [id, to] of after) {
      const from = before.get(id) ?? 'none';
      if (from !== to && !visibleTransitions.some((arrow) => arrow.from === from && arrow.to === to))
        this.#diverge('the way', `in no table`, `from ${from} to ${to}`);
    }
  }

  #compare(verdict: Forecast, answer: Awaited<ReturnType<Real['call']>>): void {
    const heard = 'refused' in answer ? answer.refused : 'done';
    if (verdict.kind === 'done') {
      if ('refused' in answer) this.#diverge('the answer', heard, 'done');
      const shown = facts(answer.result);
      for (const [what, wanted] of Object.entries(verdict.apply(answer.result)))
        this.#same(shown[what], wanted, `${what} in the answer`);
      return;
    }
    const reasons = [...verdict.reasons, ...(verdict.mayBeDone === true ? ['done'] : [])];
    if (!reasons.includes(heard)) this.#diverge('the answer', heard, reasons.join(' or '));
    if (verdict.epoch !== undefined && 'refused' in answer)
      this.#same(answer.details['currentEpoch'], verdict.epoch, 'currentEpoch');
  }

  #same(actual: unknown, expected: unknown, what: string): void {
    if (!matches(actual, expected)) this.#diverge(what, JSON.stringify(actual), JSON.stringify(expected));
  }

  #diverge(what: string, is: string | undefined, wanted: string | undefined): never {
    throw new Divergence(`${this.toString()}: ${what} is ${is ?? 'nothing'}, not ${wanted ?? 'nothing'}`);
  }
}

/** Compares only the expected fields of a record. */
export function matches(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected))
    return JSON.stringify(actual) === JSON.stringify(expected);
  if (typeof actual !== 'object' || actual === null) return false;
  const seen = new Map(Object.entries(actual));
  return Object.entries(expected).every(([key, value]) => matches(seen.get(key), value));
}

/** Selects the fields of an answer that are compared, for any operation. */
function facts(result: Record<string, unknown>): Record<string, unknown> {
  const { execution, signals, ...rest } = result as {
    execution?: {
      id: string;
      state: string;
      attempt: number;
      lease: { epoch: number } | null;
      checkpoint: { seq: number } | null;
    } | null;
    signals?: { kind: string }[];
  };
  const shown = execution && {
    ...{ id: execution.id, state: execution.state, attempt: execution.attempt },
    leaseEpoch: execution.lease?.epoch ?? null,
    checkpointSeq: execution.checkpoint?.seq ?? 0,
  };
  return {
    ...rest,
    ...(shown === null ? { execution } : shown),
    ...(signals !== undefined && { signals: signals.map(({ kind }) => kind).sort() }),
  };
}
