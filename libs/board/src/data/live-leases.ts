/** Reads the live lease on a story. Leases belong to delivery; the board only reads them. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';

export interface LiveLease {
  readonly holder: Actor;
  readonly expiresAt: string;
  readonly targetType: 'story';
  readonly targetId: string;
}

export const findLiveLease = (db: Db, storyId: string): Promise<LiveLease | undefined> =>
  db.find(
    sql`select l.holder, l.expires_at as "expiresAt", l.unit_type as "targetType", l.unit_id as "targetId"
       from leases l
       where ${orgFilter('l')} and l.unit_type = 'story' and l.unit_id = ${storyId} and l.state = 'held'
         and l.expires_at > clock_timestamp()`,
  );
