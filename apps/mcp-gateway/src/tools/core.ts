/** The operations of the core list. */
import { registry } from '@muster/registry';

/** The story → lease → checkpoint → review loop, for clients and models that do better with few tools. */
export const coreOperations: ReadonlySet<string> = new Set(
  [
    registry.session.identity,
    registry.projects.list,
    registry.stories.list,
    registry.stories.updateStatus,
    registry.storyCollaboration.context,
    registry.storySpec.update,
    registry.comments.create,
    registry.deliveryExecutions.checkpoint,
    registry.reviewers.setVerdict,
  ].map(({ name }) => name),
);
