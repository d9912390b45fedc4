/** The registry: every operation, by its name. */
import { type Operation } from './kernel/operation.ts';
import { activity } from './namespaces/activity.ts';
import { audit } from './namespaces/audit.ts';
import { boardColumns } from './namespaces/boardColumns.ts';
import { comments } from './namespaces/comments.ts';
import { epics } from './namespaces/epics.ts';
import { projects } from './namespaces/projects.ts';
import { session } from './namespaces/session.ts';
import { stories } from './namespaces/stories.ts';
import { storySpec } from './namespaces/storySpec.ts';

export const registry = {
  session,
  projects,
  boardColumns,
  epics,
  stories,
  storySpec,
  comments,
  activity,
  audit,
};
export type Registry = typeof registry;

/** A namespace holds operations and, as in `projects.members`, further namespaces. */
interface Namespace {
  readonly [word: string]: Operation | Namespace;
}

export const isOperation = (node: unknown): node is Operation =>
  typeof node === 'object' && node !== null && 'effect' in node && 'params' in node;

function* walk(namespace: Namespace): Generator<Operation> {
  for (const node of Object.values(namespace)) {
    if (isOperation(node)) yield node;
    else yield* walk(node);
  }
}

/** All operations by name, in the order of the registry. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  [...walk(registry as unknown as Namespace)].map((operation) => [operation.name, operation]),
);

export const apiVersion = '1.0.0';
