import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listReviewers } from '../../data/reviewers.ts';

export const list = handle(registry.reviewers.list, ({ params, targetId, db }) =>
  listReviewers(db, targetId, params),
);
