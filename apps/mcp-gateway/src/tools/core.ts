/** The operations among the core tools. */
import { registry } from '@muster/registry';

/**
 * Operations of the loop story → lease → checkpoint → review, for clients and models that work better with
 * few tools.
 */
export const coreOperations: ReadonlySet<string> = new Set(
  [
    registry.session.identity,
    registry.projects.list,
    registry.stories.list,
    registry.storyCollaboration.context,
    registry.storySpec.update,
    registry.comments.create,
    registry.deliveryExecutions.checkpoint,
  ].map(({ name }) => name),
);
