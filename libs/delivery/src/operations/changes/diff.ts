import { makeShortenable, shortenPage } from '@muster/driver';
import { type Changes, isSameCommit } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import {
  findFilePatch,
  findShownChanges,
  listChangedFiles,
  namedExecutionSql,
  type ShownChanges,
} from '../../data/code-changes.ts';

const noHeadProblem = { code: 'no_head' as const, message: 'No head commit of this work is known yet.' };
const noSourceProblem = {
  code: 'no_source' as const,
  message:
    'Neither a connected forge nor a runner reported the changes of this head. Connect the forge of the repository, or upload a diff.',
};

function toChanges(found: ShownChanges | undefined): Changes {
  const { code = null, currentHeadSha = null, shown = null, approvals = [] } = found ?? {};
  const headSha = shown?.head_sha ?? null;
  const isSame = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && isSameCommit(one, other);
  const isCurrent = isSame(headSha, currentHeadSha);
  const isReady = shown?.state === 'ready';
  const isPending = found?.isExpected === true && !isCurrent;
  return {
    executionId: found?.executionId ?? null,
    state: isReady ? 'ready' : isPending ? 'pending' : 'unavailable',
    problem:
      shown === null
        ? isPending
          ? null
          : currentHeadSha === null
            ? noHeadProblem
            : noSourceProblem
        : shown.failure,
    source: isReady ? shown.source : null,
    headSha,
    baseSha: shown?.base_sha ?? null,
    currentHeadSha,
    isCurrent,
    approvedHeadSha: approvals.find((approval) => approval.headSha !== null)?.headSha ?? null,
    // A rebase that keeps the diff keeps the number of the code, and so the approval.
    isApproved: approvals.some(
      (approval) =>
        isSame(approval.headSha, headSha) || (isCurrent && code !== null && approval.codeSeq === code.seq),
    ),
    fileCount: shown?.file_count ?? 0,
    additions: shown?.additions ?? 0,
    deletions: shown?.deletions ?? 0,
    truncated: shown?.is_truncated ?? false,
    attachmentId: shown?.attachment_id ?? null,
    storedAt: isReady ? new Date(shown.stored_at).toISOString() : null,
  };
}

export const diff = handle(deliveryRegistry.changes.diff, async ({ params, targetId, db }) => {
  const { executionId, path, headSha, limit, cursor } = params;
  const execution = namedExecutionSql(executionId === undefined ? 'story' : 'execution', targetId);
  const [found, page, patch] = await Promise.all([
    findShownChanges(db, execution, headSha),
    listChangedFiles(db, execution, { headSha, path, limit, cursor }),
    path === undefined ? undefined : findFilePatch(db, execution, { path, headSha }),
  ]);
  const others = { changes: toChanges(found), patch: patch ?? null };
  return makeShortenable({ ...others, ...page }, (count) => ({
    ...others,
    ...(shortenPage(page, count) as typeof page),
  }));
});
