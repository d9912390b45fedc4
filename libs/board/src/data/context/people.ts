/** Who works on the story, and who reviews it. */
import { findStoryAssignment } from '../assignments.ts';
import { listReviewers } from '../reviewers.ts';
import { type Section, whole } from './scope.ts';

/** A story cannot have more. */
const mostReviewers = 50;

export const assignment: Section<'assignment'> = async ({ db, storyRef }) =>
  whole(await findStoryAssignment(db, storyRef));

export const reviewers: Section<'reviewers'> = async ({ db, storyRef }) => {
  const page = await listReviewers(db, storyRef, { limit: mostReviewers });
  return { value: page.items, more: page.nextCursor !== null };
};
