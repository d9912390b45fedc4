/** Writes the comments, reviewers and assignments of an archive. */
import { type CommentRow, comments, markAttachmentAsImported } from '../../../data/comments.ts';
import { maxReviewers, reviews } from '../../../data/reviewers.ts';
import { createIdLike } from '../../../rules/archive-ids.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  findStoryOfLine,
  importColumns,
  keptLine,
  type LineResult,
  recordImportedItem,
  refusedLine,
  toLocalActor,
} from './archive-batch.ts';

/** Returns the mentioned members or agents that are known here. */
const findMentioned = (batch: ArchiveBatch, kind: 'member' | 'agent', ids: readonly (string | null)[]) =>
  ids.flatMap((id) => findRecordId(batch, kind, id) ?? []);

export function putComment(batch: ArchiveBatch, line: ArchiveLine<'comments'>): LineResult {
  const found = findStoryOfLine(batch, line.storyId);
  if ('outcome' in found) return found;
  const earlier = findEarlierResult(batch, 'comment', line);
  if (earlier !== undefined) return earlier;
  if ((line.body === null) !== (line.deletedAt !== null))
    return refusedLine(
      'body',
      'A comment without text must have been deleted, and a deleted one has no text.',
    );
  const { caller, writes, writesForMembers, existingComments, people } = batch;
  const { story } = found;
  const issues: { path: string; message: string }[] = [];
  const parentId = findRecordId(batch, 'comment', line.parentId);
  const parent = writes.comments.get(parentId ?? '') ?? existingComments.get(parentId ?? '');
  const root = parent?.story_id === story.id ? (parent.parent_id ?? parent.id) : null;
  if (line.parentId !== null && root === null)
    issues.push({
      path: 'parentId',
      message: 'The comment it replies to was not imported, so it became a separate thread.',
    });
  const author = toLocalActor(batch, line.author);
  const {
    kind,
    body,
    anchor,
    codeAnchor,
    options,
    createdAt,
    updatedAt,
    version,
    resolvedAt,
    editedAt,
    deletedAt,
  } = line;
  const row: CommentRow = {
    ...comments.make(
      {
        ...{ id: createIdLike(line.id), storyId: story.id, parentId: root, kind, body, author },
        ...{ anchor, codeAnchor, options },
        ...{ resolvedAt, editedAt, deletedAt, told: [] },
        // A comment whose author is only a name belongs to the importing member.
        authorMemberId: author.memberId ?? caller.memberId,
        directedTo: findRecordId(batch, 'member', line.directedTo) ?? null,
        directedToAgent: findRecordId(batch, 'agent', line.directedTo) ?? null,
        mentions: findMentioned(
          batch,
          'member',
          line.mentions.map((one) => ('memberId' in one ? one.memberId : null)),
        ),
        agentMentions: findMentioned(
          batch,
          'agent',
          line.mentions.map((one) => ('agentId' in one ? one.agentId : null)),
        ),
        resolvedBy: line.resolvedBy === null ? null : toLocalActor(batch, line.resolvedBy),
      },
      updatedAt,
    ),
    ...importColumns(batch),
    ...{ created_at: createdAt, version },
  };
  writes.comments.set(row.id, row);
  recordImportedItem(batch, 'comment', line, row.id, { version });
  for (const { emoji, memberId, createdAt: reactedAt } of line.reactions) {
    const member = findRecordId(batch, 'member', memberId);
    if (writesForMembers && member !== undefined && people.participants.has(member))
      writes.reactions.push({ comment_id: row.id, member_id: member, emoji, created_at: reactedAt });
    else issues.push({ path: 'reactions', message: 'Reactions of people who are not matched are left out.' });
  }
  return { outcome: 'created', recordId: row.id, issues: issues.slice(0, 2) };
}

/**
 * Imports a reviewer. The verdict is kept as history if an admin imports: it is marked, and the gates ignore it.
 */
export function putReviewer(batch: ArchiveBatch, line: ArchiveLine<'reviewers'>): LineResult {
  const found = findStoryOfLine(batch, line.storyId);
  if ('outcome' in found) return found;
  const earlier = findEarlierResult(batch, 'reviewer', line);
  if (earlier !== undefined) return earlier;
  const { writes, writesForMembers, reviewerIds, people, current } = batch;
  const { story } = found;
  const { kind, memberId, agentId } = line.reviewer;
  const reviewerId =
    kind === 'agent' ? findRecordId(batch, 'agent', agentId) : findRecordId(batch, 'member', memberId);
  if (reviewerId === undefined || !people.participants.has(reviewerId))
    return keptLine('The reviewer is no member with access to the project.');
  const others = reviewerIds.get(story.id) ?? new Set();
  if (others.has(reviewerId)) return keptLine('The story has this reviewer already.');
  if (others.size >= maxReviewers)
    return refusedLine('id', `The story has ${maxReviewers} reviewers already.`);
  const { note, specVersion, headSha, diffHash, decidedAt, createdAt, updatedAt, version } = line;
  const isDecided = line.verdict !== 'pending';
  if (isDecided && (decidedAt === null || specVersion === null))
    return refusedLine('decidedAt', 'A verdict has a time and the version of the spec that it is about.');
  if (line.verdict === 'changes_requested' && note === null)
    return refusedLine('note', 'A request for changes says what to change.');
  const issues =
    isDecided && !writesForMembers
      ? [{ path: 'verdict', message: 'Only an admin may import verdicts of members.' }]
      : [];
  const codeSeq = story.code?.seq ?? 0;
  const specOfStory = writes.specVersions.get(story.id) ?? story.spec_version;
  const row = {
    ...reviews.make(
      {
        ...{ id: createIdLike(line.id), storyId: story.id, projectId: current.project_id },
        memberId: kind === 'member' ? reviewerId : null,
        agentId: kind === 'agent' ? reviewerId : null,
        ...(isDecided &&
          writesForMembers && {
            ...{ verdict: line.verdict, note, specVersion, headSha, diffHash, decidedAt },
            // A stale verdict about the current spec was about other code.
            codeSeq: line.stale && specVersion === specOfStory ? null : codeSeq,
          }),
      },
      updatedAt,
    ),
    ...importColumns(batch),
    ...{ created_at: createdAt, version },
  };
  reviewerIds.set(story.id, others.add(reviewerId));
  writes.reviewers.push(row);
  recordImportedItem(batch, 'reviewer', line, row.id, { version });
  return { outcome: 'created', recordId: row.id, issues };
}

/** Assigns a story or an epic as in the archive. Sends no notifications. */
export function putAssignment(batch: ArchiveBatch, line: ArchiveLine<'assignments'>): LineResult {
  const { targetType, targetId } = line;
  const noted = { ...line, id: targetId };
  if (targetType === 'delivery_group')
    return {
      outcome: 'unchanged',
      issues: [{ path: 'targetType', message: 'Delivery groups are not imported.' }],
    };
  const recordId = findRecordId(batch, targetType, targetId);
  if (recordId === undefined)
    return refusedLine('targetId', 'Its story or epic was not imported into this project.');
  if (targetType === 'story') {
    const found = findStoryOfLine(batch, targetId);
    if ('outcome' in found) return found;
  }
  const earlier = findEarlierResult(batch, 'assignment', noted);
  if (earlier !== undefined) return earlier;
  const { people, at, caller, current } = batch;
  if (batch.assignedTargets.has(recordId)) return keptLine('It was assigned in Muster.', recordId);
  const participant = (kind: 'member' | 'agent', id: string | undefined) => {
    const found = findRecordId(batch, kind, id ?? null);
    return found !== undefined && people.participants.has(found) ? found : null;
  };
  const memberId = participant('member', line.member?.id);
  const agentId = participant('agent', line.agent?.id);
  const issues = [
    ...(line.member !== null && memberId === null ? [{ path: 'member', message: notMatchedMessage }] : []),
    ...(line.agent !== null && agentId === null ? [{ path: 'agent', message: notMatchedMessage }] : []),
  ];
  if (memberId === null && agentId === null) return { outcome: 'kept', recordId, issues };
  batch.writes.assignments.push({
    ...{ target_type: targetType, target_id: recordId, project_id: current.project_id },
    ...{ member_id: memberId, agent_id: agentId },
    assigned_by: line.assignedBy === null ? caller.actor : toLocalActor(batch, line.assignedBy),
    created_at: line.createdAt ?? at,
    updated_at: line.updatedAt ?? at,
  });
  recordImportedItem(batch, 'assignment', noted, recordId, { isCreated: false });
  return { outcome: 'created', recordId, issues };
}

const notMatchedMessage = 'No one here who may see the project was matched.';

/**
 * Gives a file that the caller uploaded to the story or comment its author and times of the archive. Clients upload
 * the file by attachments.create before they send the line.
 */
export function putAttachment(batch: ArchiveBatch, line: ArchiveLine<'attachments'>): LineResult {
  const { db, caller, uploads } = batch;
  const { targetType, targetId, name, sha256, kind, createdAt, updatedAt, version } = line;
  if (targetType === 'execution') return keptLine('Files of executions are not imported.');
  const earlier = findEarlierResult(batch, 'attachment', line);
  if (earlier !== undefined) return earlier;
  const recordId = findRecordId(batch, targetType, targetId);
  if (recordId === undefined)
    return refusedLine('targetId', 'Its story or comment was not imported into this project.');
  const index = uploads.findIndex(
    (file) =>
      file.target_id === recordId && file.sha256 === sha256 && file.name === name && file.kind === kind,
  );
  const [file] = index === -1 ? [] : uploads.splice(index, 1);
  if (file === undefined)
    return {
      outcome: 'kept',
      recordId,
      issues: [{ path: 'file', message: 'Attach the file to this record, and send the line again.' }],
    };
  const author = toLocalActor(batch, line.author);
  db.deferToCommit(
    markAttachmentAsImported(file.id, {
      ...importColumns(batch),
      ...{ author, author_member_id: author.memberId ?? caller.memberId },
      ...{ created_at: createdAt, updated_at: updatedAt, version },
    }),
  );
  recordImportedItem(batch, 'attachment', line, file.id, { version, isCreated: false });
  return { outcome: 'created', recordId: file.id };
}
