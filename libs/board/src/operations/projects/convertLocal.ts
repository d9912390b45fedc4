import { leadRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { badRequest, handle } from '@muster/runtime';
import { boardColumns } from '../../data/columns.ts';
import { buildConversion, writeConversion } from '../../data/conversion.ts';
import { insertNewProject } from '../../data/new-project.ts';
import { findProjectUsage, isProjectLimitReached, lockProjectUsage } from '../../data/project-limit.ts';
import {
  toProjectEventSubject,
  findConvertedProject,
  lockLocalBoard,
  projects,
  toProject,
} from '../../data/projects.ts';
import { defaultColumns } from '../../rules/columns.ts';
import { conversionIssues } from '../../rules/conversion.ts';

export const convertLocal = handle(
  boardRegistry.projects.convertLocal,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { localProjectId, columns: wanted = defaultColumns } = params;
    const issues = conversionIssues(params, wanted);
    if (issues.length > 0)
      throw badRequest('The local board is inconsistent.', issues.slice(0, maxReportedIssues));

    // The second of two calls for one local board waits for this lock, and then finds the first call's
    // project.
    const [{ at }, , room, converted] = await Promise.all([
      access(),
      db.all(lockLocalBoard(localProjectId)),
      findProjectUsage(db),
      findConvertedProject(db, caller, localProjectId),
    ]);
    if (converted !== undefined) {
      if (converted.rank === null || converted.conversion === null) throw refuse('already_exists');
      return { project: toProject(converted, converted.rank), mapping: converted.conversion };
    }
    if (isProjectLimitReached(room)) throw refuse('limit_exceeded', { ...room });

    const project = projects.make({ ...params, origin: 'converted' }, at);
    const empty = wanted.map((column, position) =>
      boardColumns.make({ ...column, projectId: project.id, position }, at),
    );
    const conversion = buildConversion(caller, project.id, params, empty, at);
    const { columns, epics, stories, canceledStories, mapping } = conversion;
    insertNewProject(db, caller, project, {
      columns,
      lastStoryNumber: stories.length,
      canceledStories,
      localBoard: { id: localProjectId, mapping },
    });
    writeConversion(db, caller, conversion, at);
    await db.writeNow();
    // The row with the plan's limit is locked last, so that other callers do not wait while a large board is
    // written.
    const { limit, used } = await lockProjectUsage(db);
    const others = { limit, used: used - 1 };
    if (isProjectLimitReached(others)) throw refuse('limit_exceeded', { ...others });
    emit('project.converted', toProjectEventSubject(project), {
      localProjectId,
      epics: epics.length,
      stories: stories.length,
    });
    return { project: toProject(project, leadRank), mapping };
  },
);

/** The maximum number of validation issues in an error. More of them would only repeat the first ones. */
const maxReportedIssues = 20;
