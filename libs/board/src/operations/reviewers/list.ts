import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listReviewers } from '../../data/reviewers.ts';

export const list = handle(boardRegistry.reviewers.list, ({ params, targetId, db }) =>
  listReviewers(db, targetId, params),
);
