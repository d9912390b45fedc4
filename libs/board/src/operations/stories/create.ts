import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { resolveBlockerIds, wouldCreateCycle, findStories, insertBlockers } from '../../data/blockers.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { findEpic } from '../../data/story-epics.ts';
import { findNamedParent, requireParentInProject, requireTopLevelParent } from '../../data/story-parents.ts';
import { takeStoryNumber } from '../../data/project-counters.ts';
import { lockColumnEnd } from '../../data/ranks.ts';
import { firstSpecRow, hasSpecContent, insertSpecVersion } from '../../data/specs.ts';
import { toStoryEventSubject, stories, type StoryRow, toStory } from '../../data/stories.ts';
import { rankBetween } from '../../rules/ranks.ts';
import { isFinished, noGateFacts, findUnmetGates } from '../../rules/workflow.ts';
import { checkWipLimit } from './room.ts';

export const create = handle(boardRegistry.stories.create, async (context) => {
  const { params, targetId, caller, db, access, policy: askPolicy, emit, refuse } = context;
  const { columnId, status = 'backlog', epicId, parentId, blockedBy, spec = '' } = params;
  if (status === 'canceled') throw refuse('invalid_transition', { from: null, to: status });

  const [{ at }, policy, project, end, epic, namedParent, found] = await Promise.all([
    access(),
    askPolicy(),
    takeStoryNumber(db, targetId),
    lockColumnEnd(db, targetId, columnId === undefined ? { status } : { columnId }),
    epicId === undefined ? undefined : findEpic(db, epicId),
    parentId === undefined ? undefined : findNamedParent(db, parentId),
    findStories(db, blockedBy),
  ]);
  const { project_id: projectId } = project;
  if (end === undefined)
    throw columnId === undefined
      ? refuse('invalid_transition', { from: null, to: status })
      : await notInProjectError(context, projectId, 'board_columns', { ref: columnId, path: 'columnId' });
  if (epicId !== undefined && epic?.project_id !== projectId)
    throw await notInProjectError(context, projectId, 'epics', { ref: epicId, path: 'epicId' });
  const parent =
    parentId === undefined ? null : await requireParentInProject(context, projectId, parentId, namedParent);
  if (parent !== null) requireTopLevelParent(refuse, parent, null);
  const blockers = await resolveBlockerIds(context, projectId, blockedBy, found);
  if (parent !== null && (await wouldCreateCycle(db, null, parent.id, blockers)))
    throw refuse('blocking_circle');

  const { column, last } = end;
  const specVersion = spec === '' ? 0 : 1;
  const unmet = findUnmetGates(column.status, policy, {
    ...noGateFacts,
    hasSpec: hasSpecContent(spec),
    isAgent: caller.agentId !== null,
  });
  if (unmet.length > 0) throw refuse('policy', { unmet });
  checkWipLimit(refuse, column, 1, policy);

  const story: StoryRow = {
    project_key: project.project_key,
    ...stories.make(
      {
        ...params,
        parentId: parent?.id,
        projectId,
        number: project.number,
        status: column.status,
        columnId: column.id,
        rank: rankBetween(last, null),
        blockedBy: blockers,
        specVersion,
        createdBy: caller.actor,
        completedAt: isFinished(column.status) ? at : null,
      },
      at,
    ),
  };
  db.deferToCommit(stories.insert(story));
  if (blockers.length > 0) db.deferToCommit(insertBlockers(projectId, story.id, blockers));
  emit('story.created', toStoryEventSubject(story), { status: story.status });
  if (specVersion > 0) {
    const row = firstSpecRow(story.id, { content: spec, author: caller.actor, at });
    db.deferToCommit(insertSpecVersion(row));
    emit('spec.updated', toStoryEventSubject(story), {
      version: row.version,
      linesAdded: row.lines_added,
      linesRemoved: row.lines_removed,
    });
  }
  return { story: toStory(story) };
});
