/** The operations about projects, columns, epics, stories, specs, comments, reviews, plans, imports and views. */
import { assignments } from './assignments.ts';
import { boardColumns } from './boardColumns.ts';
import { comments } from './comments.ts';
import { contracts } from './contracts.ts';
import { epics } from './epics.ts';
import { imports } from './imports.ts';
import { plans } from './plans.ts';
import { projects } from './projects.ts';
import { prompts } from './prompts.ts';
import { reviewers } from './reviewers.ts';
import { search } from './search.ts';
import { stories } from './stories.ts';
import { storyCollaboration } from './storyCollaboration.ts';
import { storySpec } from './storySpec.ts';
import { teamProjects } from './teams-projects.ts';
import { views } from './views.ts';

export { updateOneOfMany } from './stories-bulk.ts';

export const boardRegistry = {
  teams: { projects: teamProjects },
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
};
export type BoardRegistry = typeof boardRegistry;
