/** The input and the result of reading a section of a story's context. */
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

export interface ContextScope {
  readonly db: Db;
  readonly caller: Caller;
  /** The story's ID. The transaction belongs to the story's project. */
  readonly storyId: Id;
  /** The story as the caller named it, for calls to other domains. */
  readonly storyRef: string;
  /**
   * The maximum number of bytes of text that a section should read, because the answer has no space for more.
   */
  readonly maxBytes: number;
  readonly policy: () => Promise<Policy>;
  /** Returns the story's execution. Two sections share one request. */
  readonly execution: () => Promise<Execution | null>;
  /** Returns the locks and work of others near the story. Two sections share one request. */
  readonly workAround: () => Promise<ResultOf<typeof inside.workAround>>;
  /** Performs an operation of another domain. */
  readonly perform: HandlerContext<Operation>['perform'];
}

export interface SectionRead<Value> {
  readonly value: Value;
  /** True if there are more records than the section contains. */
  readonly more: boolean;
}

/** A function that reads one section. It sends its statements in the tick in which it is called. */
export type Section<Name extends ContextSection> = (
  scope: ContextScope,
) => Promise<SectionRead<ContextSections[Name]>>;

/** Returns the result for a section that was read completely. */
export const whole = <Value>(value: Value): SectionRead<Value> => ({ value, more: false });

/** Returns the first `limit` of `limit + 1` requested items. */
export const firstOf = <Item>(items: readonly Item[], limit: number): SectionRead<Item[]> => ({
  value: items.slice(0, limit),
  more: items.length > limit,
});
