import { createPool } from '@muster/database';
import {
  type ActivityItem,
  type AuditEntry,
  type BoardColumn,
  type Epic,
  type Project,
  type StorySummary,
} from '@muster/registry';
import { type Instance } from './instance.ts';
import { allEpics, allPages, allStories, allThreads, columnsOf, from, type ThreadOf } from './pages.ts';
import { type Tour } from './tour-state.ts';

/** A row of a stream as it lies in the table. */
export interface StreamRow {
  readonly seq: number;
  readonly id: string;
}

/** What is there at the end, read back through the API, and the two streams as they lie in the tables. */
export interface Findings {
  readonly project: Project;
  readonly counts: Readonly<Record<string, number>>;
  readonly columns: readonly (BoardColumn & { storyCount: number })[];
  readonly epics: readonly Epic[];
  /** In board order. */
  readonly stories: readonly StorySummary[];
  readonly threads: ReadonlyMap<string, readonly ThreadOf[]>;
  readonly activity: readonly ActivityItem[];
  /** The activity once more, by other pages. */
  readonly activityAgain: readonly ActivityItem[];
  /** What somebody saw who read it while it was written. */
  readonly followed: readonly ActivityItem[];
  readonly audit: readonly AuditEntry[];
  readonly activityRows: readonly StreamRow[];
  readonly auditRows: readonly StreamRow[];
}

export async function gather(
  tour: Tour,
  { databaseUrl }: Instance,
  followed: readonly ActivityItem[],
): Promise<Findings> {
  const { ana, gwen } = tour.team;
  const { projectId } = tour;
  const { project, counts } = await ana.api.projects.get({ projectId });
  const talkedOn = [...new Set([...tour.comments.values()].map(({ storyId }) => storyId))];
  const threads = new Map<string, ThreadOf[]>();
  for (const storyId of talkedOn) threads.set(storyId, await allThreads(gwen, storyId));
  const activity = (limit: number): Promise<ActivityItem[]> =>
    allPages((cursor) => gwen.api.activity.list({ limit, ...from(cursor) }));
  return {
    ...{ project, counts, threads, followed },
    columns: await columnsOf(ana, projectId),
    epics: await allEpics(ana, projectId),
    stories: await allStories(ana, projectId),
    activity: await activity(200),
    activityAgain: await activity(77),
    audit: await allPages((cursor) => ana.api.audit.list({ limit: 200, ...from(cursor) })),
    ...(await readStreams(databaseUrl, tour.team.orgId)),
  };
}

async function readStreams(
  databaseUrl: string,
  orgId: string,
): Promise<Pick<Findings, 'activityRows' | 'auditRows'>> {
  const pool = createPool({ url: databaseUrl, role: null, name: 'muster-tour', max: 1 });
  const rowsOf = async (table: 'activity' | 'audit'): Promise<StreamRow[]> =>
    (await pool.query<StreamRow>(`select seq, id from ${table} where org_id = $1 order by seq`, [orgId]))
      .rows;
  try {
    return { activityRows: await rowsOf('activity'), auditRows: await rowsOf('audit') };
  } finally {
    await pool.end();
  }
}
