/** Which signal an event is. One that is not here is none. */
import { type EventKind, type Signal } from '@muster/registry';

type SignalOf = { readonly [Kind in EventKind]?: Signal['kind'] };

/** To the holder of the work on the story, or on the group. */
export const signalOf: SignalOf = {
  'spec.updated': 'spec_changed',
  'spec.restored': 'spec_changed',
  'story.updated': 'story_changed',
  'story.statusChanged': 'story_changed',
  'comment.created': 'new_comments',
  'comment.resolved': 'question_answered',
  'review.decided': 'review_verdict',
  'group.updated': 'story_changed',
  'group.stateChanged': 'story_changed',
  'group.storiesReplaced': 'story_changed',
};

/** To the group's coordinator: also what the forge said of it and of its stories. */
export const coordinatorSignalOf: SignalOf = { ...signalOf, 'execution.observed': 'forge' };
