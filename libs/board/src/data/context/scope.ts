/** The input and the result of reading a section of a story's context. */
import { type Db, type IdOrSql } from '@muster/driver';
import {
  type ContextSection,
  type ContextSections,
  type Execution,
  type internalOperations,
  type Operation,
  type Policy,
  type ResultOf,
} from '@muster/contract';
import { type Caller, type HandlerContext } from '@muster/runtime';

export interface ContextScope {
  readonly db: Db;
  readonly caller: Caller;
  /** The story's ID. The transaction belongs to the story's project. */
  readonly storyId: IdOrSql;
  /** The story as the caller named it, for calls to other domains. */
  readonly storyRef: string;
  /**
   * The maximum number of bytes of text that a section should read, because the answer has no space for more.
   */
  readonly maxBytes: number;
  readonly loadPolicy: () => Promise<Policy>;
  /** Returns the story's execution. Two sections share one request. */
  readonly loadExecution: () => Promise<Execution | null>;
  /** Returns the locks and work of others near the story. Two sections share one request. */
  readonly loadNearbyWork: () => Promise<ResultOf<typeof internalOperations.workAround>>;
  /** Performs an operation of another domain. */
  readonly performOperation: HandlerContext<Operation>['perform'];
}

export interface SectionResult<Value> {
  readonly value: Value;
  /** True if there are more records than the section contains. */
  readonly hasMore: boolean;
}

/** A function that reads one section. It sends its statements in the tick in which it is called. */
export type SectionReader<Name extends ContextSection> = (
  scope: ContextScope,
) => Promise<SectionResult<ContextSections[Name]>>;

/** Returns the result for a section that was read completely. */
export const toCompleteSection = <Value>(value: Value): SectionResult<Value> => ({ value, hasMore: false });

/** Returns the first `limit` of `limit + 1` requested items. */
export const toLimitedSection = <Item>(items: readonly Item[], limit: number): SectionResult<Item[]> => ({
  value: items.slice(0, limit),
  hasMore: items.length > limit,
});
