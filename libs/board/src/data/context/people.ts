/** The sections of the assignment and the reviewers. */
import { findStoryAssignment } from '../assignments.ts';
import { listReviewers, maxReviewers } from '../reviewers.ts';
import { type SectionReader, toCompleteSection } from './scope.ts';

export const readAssignment: SectionReader<'assignment'> = async ({ db, storyId }) =>
  toCompleteSection(await findStoryAssignment(db, storyId));

export const readReviewers: SectionReader<'reviewers'> = async ({ db, storyId }) => {
  const page = await listReviewers(db, storyId, { limit: maxReviewers });
  return { value: page.items, hasMore: page.nextCursor !== null };
};
