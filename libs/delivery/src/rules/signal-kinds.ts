/** The signal kinds by event kind. Events without an entry cause no signal. */
import { type EventKind, type Signal } from '@muster/contract';

type SignalKindByEvent = { readonly [Kind in EventKind]?: Signal['kind'] };

/** The kinds of signals to the holder of work on a story or its group, by the kind of the event. */
export const holderSignalKindByEvent: SignalKindByEvent = {
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

/**
 * The signals to the group's coordinator. They include facts of the forge about the group and its stories.
 */
export const coordinatorSignalKindByEvent: SignalKindByEvent = {
  ...holderSignalKindByEvent,
  'execution.observed': 'forge',
};
