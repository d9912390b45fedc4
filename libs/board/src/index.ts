import { assignments } from './operations/assignments/handlers.ts';
import { boardColumns } from './operations/boardColumns/handlers.ts';
import { comments } from './operations/comments/handlers.ts';
import { contracts } from './operations/contracts/handlers.ts';
import { beginStory } from './operations/inside/beginStory.ts';
import { mergeGate } from './operations/inside/mergeGate.ts';
import { nextStories } from './operations/inside/nextStories.ts';
import { epics } from './operations/epics/handlers.ts';
import { imports } from './operations/imports/handlers.ts';
import { projects } from './operations/projects/handlers.ts';
import { prompts } from './operations/prompts/handlers.ts';
import { reviewers } from './operations/reviewers/handlers.ts';
import { search } from './operations/search/handlers.ts';
import { stories } from './operations/stories/handlers.ts';
import { storyCollaboration } from './operations/storyCollaboration/handlers.ts';
import { storySpec } from './operations/storySpec/handlers.ts';
import { teamProjects } from './operations/teams/projects/handlers.ts';

/** What this lib answers, by namespace; `teamProjects` is what `teams` has for the projects of a team. */
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
  teamProjects,
};

/** What other domains ask of this one, on no surface. */
export const insideBoard = { beginStory, nextStories, mergeGate };

export { unblockReactions } from './unblock-reactions.ts';

/** The life of a request for access, of a review and of a story, each as the table that the code goes by. */
export { accessRequestLife } from './rules/access-request-states.ts';
export { reviewStates } from './rules/review-states.ts';
export { workflow } from './rules/workflow.ts';
