/** The sections of the assignment and the reviewers. */
import { findStoryAssignment } from '../assignments.ts';
import { listReviewers, mostReviewers } from '../reviewers.ts';
import { type Section, whole } from './scope.ts';

export const assignment: Section<'assignment'> = async ({ db, storyId }) =>
  whole(await findStoryAssignment(db, storyId));

export const reviewers: Section<'reviewers'> = async ({ db, storyId }) => {
  const page = await listReviewers(db, storyId, { limit: mostReviewers });
  return { value: page.items, more: page.nextCursor !== null };
};
