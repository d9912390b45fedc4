import { requireVersion } from '@muster/driver';
import { normalizeLineFeeds } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import {
  toContractEventSubject,
  lockStoryAgainstDeletion,
  linkContract,
  lockContract,
  nextContractVersion,
  insertContractVersion,
  toContract,
} from '../../data/contracts.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { findContentProblem } from '../../rules/contract-content.ts';

export const publish = handle(boardRegistry.contracts.publish, async (context) => {
  const { params, targetId, caller, db, access, emit, refuse } = context;
  // The content is checked before rows are locked, because the check can take long.
  const flaw = findContentProblem(params.kind, params.content);
  // Lock order: stories before the records that belong to them.
  const [story, { head, newestVersion: newest }, { at }] = await Promise.all([
    params.storyId === undefined ? undefined : lockStoryAgainstDeletion(db, params.storyId),
    lockContract(db, targetId, params.slug),
    access(),
  ]);
  if (params.storyId !== undefined && story?.project_id !== head.project_id)
    throw await notInProjectError(context, head.project_id, 'stories', {
      ref: params.storyId,
      path: 'storyId',
    });
  if (flaw !== null) throw refuse('malformed_content', { kind: params.kind, problem: flaw });
  requireVersion(head, params.baseVersion);
  const isCurrent =
    newest?.kind === params.kind && normalizeLineFeeds(newest.content ?? '') === params.content;
  const contract = isCurrent ? newest : nextContractVersion(caller, head, params, story?.id ?? null, at);
  if (!isCurrent) {
    for (const query of insertContractVersion(contract)) db.deferToCommit(query);
    emit('contract.published', toContractEventSubject(contract), {
      slug: contract.slug,
      version: contract.version,
    });
  }
  if (story !== undefined) db.deferToCommit(linkContract(contract, story.id));
  return { contract: toContract(contract), created: !isCurrent };
});
