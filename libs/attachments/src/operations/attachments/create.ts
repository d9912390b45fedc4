import { contributorRank, isDifferentCode, projectRoles, roleTooLow } from '@muster/contract';
import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle } from '@muster/runtime';
import {
  attachments,
  type AttachmentTarget,
  getAttachmentTarget,
  lockStoredBytes,
  toAttachment,
} from '../../data/attachments.ts';
import { signedPath, uploadSeconds } from '../../rules/addresses.ts';
import { type AttachmentsConfig, readSigning } from './config.ts';

/** Returns the code that the attachment is evidence for. Files that are no evidence have none unless a head is named. */
function resolveEvidenceCode(
  { kind, headSha }: { readonly kind: string; readonly headSha?: string | undefined },
  { code }: AttachmentTarget,
): { readonly headSha: string | null; readonly codeSeq: number | null } {
  if (code === null || (kind === 'file' && headSha === undefined))
    return { headSha: headSha ?? null, codeSeq: null };
  const named = { headSha: headSha ?? code.headSha, diffHash: null };
  return { headSha: named.headSha, codeSeq: isDifferentCode(named, code) ? null : code.seq };
}

export const createCreateHandler = (config: AttachmentsConfig) =>
  handle(attachmentsRegistry.attachments.create, async (context) => {
    const { params, targetId, caller, db, projectRank, refuse } = context;
    const { targetType, size, contentType } = params;
    const [target, rank, signing, usedBytes] = await Promise.all([
      getAttachmentTarget(db, targetType, targetId),
      projectRank(),
      readSigning(context, config),
      lockStoredBytes(db, caller.orgId),
    ]);
    if (targetType !== 'comment' && rank < contributorRank)
      throw roleTooLow({ needed: 'contributor', held: projectRoles[rank - 1] ?? 'viewer' });
    if (usedBytes + size > config.maxBytesPerOrganization)
      throw refuse('limit_exceeded', { limit: config.maxBytesPerOrganization, used: usedBytes });

    const { signedAt: at, organizationKey, baseUrl } = signing;
    const attachment = attachments.make(
      {
        ...{ name: params.name, contentType, size, sha256: params.sha256, kind: params.kind },
        ...resolveEvidenceCode(params, target),
        projectId: target.project_id,
        storyId: target.story_id,
        commentId: target.comment_id,
        executionId: target.execution_id,
        author: caller.actor,
        authorMemberId: caller.memberId,
      },
      at,
    );
    db.deferToCommit(attachments.insert(attachment));
    const expiresAtMillis = Date.parse(at) + uploadSeconds * 1_000;
    const address = {
      method: 'PUT',
      orgId: caller.orgId,
      attachmentId: attachment.id,
      expiresAtMillis,
    } as const;
    return {
      attachment: toAttachment({ ...attachment, code: target.code }, signing),
      upload: {
        url: baseUrl + signedPath(organizationKey, address),
        method: 'PUT' as const,
        headers: { 'content-type': contentType },
        expiresAt: new Date(expiresAtMillis).toISOString(),
      },
    };
  });
