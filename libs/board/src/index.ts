import { assignments } from './operations/assignments/handlers.ts';
import { boardColumns } from './operations/boardColumns/handlers.ts';
import { comments } from './operations/comments/handlers.ts';
import { contracts } from './operations/contracts/handlers.ts';
import { beginStory } from './operations/inside/beginStory.ts';
import { mergeGate } from './operations/inside/mergeGate.ts';
import { nextStories } from './operations/inside/nextStories.ts';
import { epics } from './operations/epics/handlers.ts';
import { imports } from './operations/imports/handlers.ts';
import { plans } from './operations/plans/handlers.ts';
import { projects } from './operations/projects/handlers.ts';
import { prompts } from './operations/prompts/handlers.ts';
import { reviewers } from './operations/reviewers/handlers.ts';
import { search } from './operations/search/handlers.ts';
import { stories } from './operations/stories/handlers.ts';
import { storyCollaboration } from './operations/storyCollaboration/handlers.ts';
import { storySpec } from './operations/storySpec/handlers.ts';
import { views } from './operations/views/handlers.ts';
import { teamProjects } from './operations/teams/projects/handlers.ts';

/** The handlers by namespace. */
export const boardHandlers = {
  projects,
  boardColumns,
  epics,
  stories,
  storySpec,
  storyCollaboration,
  comments,
  assignments,
  reviewers,
  prompts,
  contracts,
  search,
  imports,
  plans,
  views,
  teams: { projects: teamProjects },
};

/** The handlers that only other domains call. No API surface has them. */
export const internalBoardHandlers = { beginStory, nextStories, mergeGate };

export {
  findAnsweredQuestion,
  lockQuestionForMember,
  markCommentAsSent,
  maxMailedCommentsPerHour,
  readMailedComments,
} from './data/comments.ts';
export { boardArchiveReaders } from './data/archive.ts';
export { deletedStoryRetentionDays } from './data/deleted-stories.ts';
export { unblockReactions } from './unblock-reactions.ts';

/**
 * The tables of the state machines of an access request, a review and a story. The code uses these tables,
 * too.
 */
export { accessRequestTransitions } from './rules/access-request-states.ts';
export { reviewStates } from './rules/review-states.ts';
export { workflow } from './rules/workflow.ts';
