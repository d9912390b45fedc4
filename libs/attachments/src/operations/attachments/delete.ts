import { leadRank } from '@muster/contract';
import { attachmentsRegistry } from '@muster/attachments-registry';
import { handle } from '@muster/runtime';
import { attachments, deleteAttachment, getAttachmentSubject } from '../../data/attachments.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  attachmentsRegistry.attachments.delete,
  async ({ targetId, caller, db, projectRank, requireGround, emit }) => {
    const [attachment, subject, rank] = await Promise.all([
      attachments.lock(db, targetId),
      getAttachmentSubject(db, targetId),
      projectRank(),
    ]);
    // Members may delete files of their agents.
    const isAuthor =
      attachment.author_member_id === caller.memberId &&
      (caller.agentId === null || caller.agentId === attachment.author.agentId);
    await requireGround(isAuthor && 'author', rank >= leadRank && 'projectLead');
    db.deferToCommit(deleteAttachment(attachment.id));
    emit('attachment.deleted', subject, { attachmentId: attachment.id, name: attachment.name });
    return { deleted: true as const };
  },
);
