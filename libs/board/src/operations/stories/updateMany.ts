import { requireVersion } from '@muster/driver';
import { maxLabels } from '@muster/contract';
import { boardRegistry, updateOneOfMany } from '@muster/board-registry';
import { handle, handleBatch } from '@muster/runtime';
import { lockAssignment } from '../../data/assignments.ts';
import { lockMove } from '../../data/ranks.ts';
import { lockStory, type StoryRow } from '../../data/stories.ts';
import { addAndRemoveLabels } from '../../rules/labels.ts';

const updateOne = handle(updateOneOfMany, async (context) => {
  const { params, targetId, db, perform, refuse, reportNoChange } = context;
  const { storyId, set, expectedVersions = {} } = params;
  const { status, columnId, assigneeId, agentId, addLabels = [], removeLabels = [], ...fields } = set;
  const isMove = status !== undefined || columnId !== undefined;
  const isAssignment = assigneeId !== undefined || agentId !== undefined;

  // The story is locked first, so that it can be compared with its state afterwards. A move locks its columns before
  // the story.
  const before: StoryRow = isMove
    ? (await lockMove(db, targetId, { status, columnId })).story
    : await lockStory(db, targetId);
  requireVersion(before, expectedVersions[storyId] ?? expectedVersions[before.id]);
  let { version } = before;
  if (status !== undefined) {
    const { story } = await perform(boardRegistry.stories.updateStatus, { storyId, status, columnId });
    version = story.version;
  } else if (columnId !== undefined && columnId !== before.column_id) {
    const { story } = await perform(boardRegistry.stories.reorder, { storyId, columnId });
    version = story.version;
  }

  const labels = addAndRemoveLabels(before.labels, addLabels, removeLabels);
  if (labels.length > maxLabels) throw refuse('limit_exceeded', { limit: maxLabels, used: labels.length });
  if (labels !== before.labels || Object.values(fields).some((value) => value !== undefined)) {
    const { story } = await perform(boardRegistry.stories.update, {
      storyId,
      ...fields,
      labels: [...labels],
    });
    version = story.version;
  }

  let isReassigned = false;
  if (isAssignment) {
    const target = { targetType: 'story', targetId: before.id } as const;
    const { member, agent } = await lockAssignment(db, target);
    const { assignment } = await perform(boardRegistry.assignments.set, {
      ...{ targetType: 'story', targetId: storyId, memberId: assigneeId, agentId },
    });
    isReassigned = assignment.member?.id !== member?.id || assignment.agent?.id !== agent?.id;
  }

  const isChanged = isReassigned || version !== before.version;
  if (!isChanged) reportNoChange();
  const outcome = isChanged ? ('changed' as const) : ('unchanged' as const);
  return { story: { storyId: before.id, outcome, reason: null, message: null, version } };
});

export const updateMany = handleBatch(boardRegistry.stories.updateMany, {
  item: updateOne,
  split: ({ storyIds, set, expectedVersions }) =>
    storyIds.map((storyId) => ({ storyId, set, expectedVersions })),
  join: ({ storyIds }, outcomes) => ({
    results: outcomes.map((outcome, index) => {
      if ('result' in outcome) return outcome.result.story;
      const { message, details } = outcome.refusal;
      const { reason, currentVersion } = details;
      const version = typeof currentVersion === 'number' ? currentVersion : null;
      return { storyId: storyIds[index] ?? '', outcome: 'refused' as const, reason, message, version };
    }),
  }),
});
