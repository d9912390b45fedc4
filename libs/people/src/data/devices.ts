/** Devices of members, by the ids that their clients gave them. A push token is written, and never read out. */
import { type Db, type DB, type Query, query, sqlQuery } from '@muster/database';
import { type Device } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';

type DeviceRow = Selectable<DB['devices']>;

export const toDevice = (row: DeviceRow): Device => ({
  id: row.id,
  deviceId: row.device_id,
  name: row.name,
  platform: row.platform,
  appVersion: row.app_version,
  takesPush: row.push_token !== null,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export const findDevice = (
  db: Db,
  { orgId, memberId }: Caller,
  deviceId: string,
): Promise<DeviceRow | undefined> =>
  db.find(
    query
      .selectFrom('devices')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('member_id', '=', memberId)
      .where('device_id', '=', deviceId),
  );

/** How many devices the caller has. */
export const countDevices = async (db: Db, { orgId, memberId }: Caller): Promise<number> =>
  (
    await db.one(
      sqlQuery<{ count: number }>('select count(*) from devices where org_id = $1 and member_id = $2', [
        orgId,
        memberId,
      ]),
    )
  ).count;

/** Whoever registers the same push token takes turns, so that it ends up with one of them. */
export const lockPushToken = (db: Db, orgId: string, pushToken: string): Promise<unknown> =>
  db.all(sqlQuery('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${orgId} ${pushToken}`]));

/** Takes the push token from any other device that had it. */
export const takePushToken = (device: DeviceRow): Query<unknown> =>
  sqlQuery(
    `update devices set push_token = null, updated_at = $5
     where org_id = $1 and md5(push_token) = md5($2) and (member_id, device_id) <> ($3, $4)`,
    [device.org_id, device.push_token, device.member_id, device.device_id, device.updated_at],
  );

/** Writes a device; its push token only where one was `given`, since another device may have taken the one read. */
export const setDevice = (device: DeviceRow, given: boolean): Query<unknown> =>
  query
    .insertInto('devices')
    .values(device)
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'member_id', 'device_id']).doUpdateSet({
        name: device.name,
        platform: device.platform,
        app_version: device.app_version,
        updated_at: device.updated_at,
        ...(given && { push_token: device.push_token }),
      }),
    );

/** Forgets a device; undefined where there was none. */
export const deleteDevice = (
  db: Db,
  { orgId, memberId }: Caller,
  deviceId: string,
): Promise<{ id: string } | undefined> =>
  db.find(
    query
      .deleteFrom('devices')
      .where('org_id', '=', orgId)
      .where('member_id', '=', memberId)
      .where('device_id', '=', deviceId)
      .returning('id'),
  );
