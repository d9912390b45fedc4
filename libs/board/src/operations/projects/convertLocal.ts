import { leadRank, registry } from '@muster/registry';
import { badRequest, handle } from '@muster/runtime';
import { boardColumns } from '../../data/columns.ts';
import { convert, setConversion } from '../../data/conversion.ts';
import { setNewProject } from '../../data/new-project.ts';
import { findProjectRoom, isFull, lockProjectRoom } from '../../data/project-limit.ts';
import { aboutProject, findConverted, lockLocalBoard, projects, toProject } from '../../data/projects.ts';
import { defaultColumns } from '../../rules/columns.ts';
import { conversionIssues } from '../../rules/conversion.ts';

export const convertLocal = handle(
  registry.projects.convertLocal,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { localProjectId, columns: wanted = defaultColumns } = params;
    const issues = conversionIssues(params, wanted);
    if (issues.length > 0) throw badRequest('The local board is inconsistent.', issues.slice(0, mostIssues));

    // The second of two calls for one local board waits for this lock, and then finds the first call's
    // project.
    const [{ at }, , room, converted] = await Promise.all([
      access(),
      db.all(lockLocalBoard(localProjectId)),
      findProjectRoom(db),
      findConverted(db, caller, localProjectId),
    ]);
    if (converted !== undefined) {
      if (converted.rank === null || converted.conversion === null) throw refuse('already_exists');
      return { project: toProject(converted, converted.rank), mapping: converted.conversion };
    }
    if (isFull(room)) throw refuse('limit_exceeded', { ...room });

    const project = projects.make({ ...params, origin: 'converted' }, at);
    const empty = wanted.map((column, position) =>
      boardColumns.make({ ...column, projectId: project.id, position }, at),
    );
    const conversion = convert(caller, project.id, params, empty, at);
    const { columns, epics, stories, canceledStories, mapping } = conversion;
    setNewProject(db, caller, project, {
      columns,
      lastStoryNumber: stories.length,
      canceledStories,
      local: { id: localProjectId, mapping },
    });
    setConversion(db, caller, conversion, at);
    await db.writeNow();
    // The row with the plan's limit is locked last, so that other callers do not wait while a large board is
    // written.
    const { limit, used } = await lockProjectRoom(db);
    const others = { limit, used: used - 1 };
    if (isFull(others)) throw refuse('limit_exceeded', { ...others });
    emit('project.converted', aboutProject(project), {
      localProjectId,
      epics: epics.length,
      stories: stories.length,
    });
    return { project: toProject(project, leadRank), mapping };
  },
);

/** The maximum number of validation issues in an error. More of them would only repeat the first ones. */
const mostIssues = 20;
