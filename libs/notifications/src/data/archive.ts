/** Reads the activity, and the notifications of one member, for an export. */
import { orgFilter, type RowOf, sql } from '@muster/driver';
import {
  afterKeySql,
  type ArchiveReaders,
  createArchiveReader,
  isExportedProjectSql,
  keyTypes,
} from '@muster/tenancy';
import { activityView } from './activity.ts';
import { inbox } from './notifications.ts';

const { uuid, bigint } = keyTypes;

export const readActivity = createArchiveReader({
  type: 'activity',
  pageSize: 200,
  select: (selection, after, limit) => {
    // An export of personal data has no activity, because activity names other members' work.
    if (selection.scope === 'me') return null;
    const ofProject =
      selection.scope === 'org' ? sql.part`true` : sql.part`e.project_id = ${selection.projectId}::uuid`;
    return sql<
      RowOf<typeof activityView> & { seq: number }
    >`select ${activityView.list}, e.seq from activity e
        where ${orgFilter('e')} and ${ofProject} and e.at <= ${selection.startedAt}::timestamptz
          and ${afterKeySql(sql.part`e.seq`, after, [bigint])} order by e.seq limit ${limit}`;
  },
  keyOf: ({ seq }) => [seq],
  toRecord: activityView.shown,
});

export const readNotifications = createArchiveReader({
  type: 'notifications',
  pageSize: 500,
  select: (selection, after, limit) =>
    selection.scope === 'me'
      ? sql<RowOf<typeof inbox>>`select ${inbox.list} from notifications n
            where ${orgFilter('n')} and n.member_id = ${selection.memberId}::uuid and n.in_inbox
              and n.created_at <= ${selection.startedAt}::timestamptz
              and (n.project_id is null or exists (select from projects p where ${orgFilter('p')}
                and p.id = n.project_id and ${isExportedProjectSql(selection)}))
              and ${afterKeySql(sql.part`n.id`, after, [uuid])} order by n.id limit ${limit}`
      : null,
  keyOf: ({ id }) => [id],
  toRecord: inbox.shown,
});

export const notificationsArchiveReaders: ArchiveReaders = {
  activity: readActivity,
  notifications: readNotifications,
};
