import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { deleteStoriesOf, storiesPerDelete } from '../../data/column-stories.ts';
import { lockBoard } from '../../data/columns.ts';
import { countByHand } from '../../data/counts.ts';
import { aboutProject, deleteProject, getVisibleProject } from '../../data/projects.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  registry.projects.delete,
  async ({ params, caller, db, emit, refuse }) => {
    const { orgId } = caller;
    const [{ columns, canceledStories }, project] = await Promise.all([
      lockBoard(db, orgId, { projectId: params.projectId }),
      getVisibleProject(db, caller, params.projectId),
    ]);
    if (params.confirmKey !== project.key) throw refuse('confirmation_mismatch');

    const stories = columns.reduce((sum, column) => sum + column.story_count, canceledStories);
    await db.all(countByHand());
    // A round trip each: what goes out together shares one time limit, and the largest board must go, too.
    for (let left = stories; left > 0; left -= storiesPerDelete)
      await db.all(deleteStoriesOf(orgId, project.id));
    db.later(deleteProject(orgId, project.id));
    // Once it is gone nobody has a role in it, and only what is of no project is seen: so what everybody saw is that.
    const subject = aboutProject(project);
    emit('project.deleted', project.visibility === 'org' ? { ...subject, projectId: null } : subject, {
      stories,
    });
    return { deleted: true as const };
  },
);
