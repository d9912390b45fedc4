/** What the sections of a story's context are read with, and what each is read as. */
import { type Db, type Id } from '@muster/driver';
import {
  type ContextSection,
  type ContextSections,
  type Execution,
  type inside,
  type Operation,
  type Policy,
  type ResultOf,
} from '@muster/registry';
import { type Caller, type HandlerContext } from '@muster/runtime';

export interface Scope {
  readonly db: Db;
  readonly caller: Caller;
  /** The story; its project is that of the transaction. */
  readonly storyId: Id;
  /** The same as the caller named it, for what another domain is asked. */
  readonly storyRef: string;
  /** More text than this is not worth reading. */
  readonly maxBytes: number;
  readonly policy: () => Promise<Policy>;
  /** The story's execution; asked once, for two sections. */
  readonly execution: () => Promise<Execution | null>;
  /** What others hold and touch around the story; asked once, for two sections. */
  readonly workAround: () => Promise<ResultOf<typeof inside.workAround>>;
  /** What another domain knows of the story. */
  readonly perform: HandlerContext<Operation>['perform'];
}

export interface Read<Value> {
  readonly value: Value;
  /** Whether there is more than was read. */
  readonly more: boolean;
}

/** A section whose statements go out in the tick in which it is called. */
export type Section<Name extends ContextSection> = (scope: Scope) => Promise<Read<ContextSections[Name]>>;

/** A section that was read whole. */
export const whole = <Value>(value: Value): Read<Value> => ({ value, more: false });

/** The first `limit` of items of which one more was asked for. */
export const firstOf = <Item>(items: readonly Item[], limit: number): Read<Item[]> => ({
  value: items.slice(0, limit),
  more: items.length > limit,
});
