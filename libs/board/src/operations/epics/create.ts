import { newId } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutEpic, type EpicRow, insertEpics, toEpic } from '../../data/epics.ts';
import { getProject } from '../../data/projects.ts';

export const create = handle(registry.epics.create, async ({ params, db, access, emit }) => {
  const [{ at }, project] = await Promise.all([access(), getProject(db, params.projectId)]);
  const epic: EpicRow = {
    id: newId(),
    project_id: project.id,
    title: params.title,
    description: params.description ?? '',
    color: params.color ?? null,
    target_date: params.targetDate ?? null,
    status: 'open',
    story_count: 0,
    done_count: 0,
    created_at: at,
    updated_at: at,
    version: 1,
  };
  db.later(insertEpics([epic]));
  emit('epic.created', aboutEpic(epic), {});
  return { epic: toEpic(epic) };
});
