/** Who works on a story now; leases are delivery's, and here they are only read. */
import { type Db, sqlQuery } from '@muster/database';
import { type Actor } from '@muster/registry';

export interface LiveLease {
  readonly holder: Actor;
  readonly expiresAt: string;
  readonly targetType: 'story';
  readonly targetId: string;
}

export const findLiveLease = (db: Db, orgId: string, storyId: string): Promise<LiveLease | undefined> =>
  db.find(
    sqlQuery(
      `select l.holder, l.expires_at as "expiresAt", l.unit_type as "targetType", l.unit_id as "targetId"
       from leases l
       where l.org_id = $1 and l.unit_type = 'story' and l.unit_id = $2 and l.state = 'held'
         and l.expires_at > clock_timestamp()`,
      [orgId, storyId],
    ),
  );
