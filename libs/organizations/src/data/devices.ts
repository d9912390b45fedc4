/**
 * Devices of members, by the ids that their clients assigned. A push token can be written, but is never
 * answered.
 */
import {
  type Db,
  type DB,
  orgFilter,
  currentOrgId,
  type Query,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type Device } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';

const devices = defineView(
  'devices',
  'd',
  ['id', 'device_id', 'name', 'platform', 'app_version', 'created_at', 'updated_at'],
  ['member_id', 'push_token', 'token_id'],
);
type DeviceRow = RowOf<typeof devices>;

export const toDevice = (row: DeviceRow): Device => ({
  ...devices.shown(row),
  takesPush: row.push_token !== null,
});

export const findDevice = (db: Db, { memberId }: Caller, deviceId: string): Promise<DeviceRow | undefined> =>
  db.find(
    sql<DeviceRow>`select ${devices.list} from devices d
       where ${orgFilter('d')} and d.member_id = ${memberId} and d.device_id = ${deviceId}`,
  );

/** Deletes devices of the caller whose tokens have ended, so that they do not count towards the limit. */
export const deleteDevicesWithEndedTokens = (db: Db, { memberId }: Caller): Promise<unknown> =>
  db.all(
    sql`delete from devices d using tokens t
       where ${orgFilter('d')} and d.member_id = ${memberId} and t.org_id = d.org_id and t.id = d.token_id
         and (t.revoked_at is not null or t.expires_at <= now())`,
  );

/** Counts the caller's devices. */
export const countDevices = async (db: Db, { memberId }: Caller): Promise<number> =>
  (
    await db.one(
      sql<{ count: number }>`select count(*) from devices where ${orgFilter()} and member_id = ${memberId}`,
    )
  ).count;

/** Serializes calls that register the same push token, so that only one member has it in the end. */
export const lockPushToken = (db: Db, pushToken: string): Promise<unknown> =>
  db.all(
    sql`select pg_advisory_xact_lock(hashtextextended(${currentOrgId}::text || ' ' || ${pushToken}::text, 0))`,
  );

/** Removes the push token from any other device that had it. */
export const removePushTokenFromOtherDevices = (device: DeviceRow): Query<unknown> =>
  sql`update devices set push_token = null, updated_at = ${device.updated_at}
     where ${orgFilter()} and md5(push_token) = md5(${device.push_token}) and (member_id, device_id) <> (${device.member_id}, ${device.device_id})`;

/**
 * Inserts or updates a device. The push token is written only if the caller gave one. Otherwise the row has the
 * stored token, which another device may have taken over since the row was read.
 */
export const setDevice = (device: DeviceRow, writesPushToken: boolean): Query<unknown> =>
  sql`${sql.insert('devices', devices.names, device)} on conflict (org_id, member_id, device_id) do update set
    name = excluded.name, platform = excluded.platform, app_version = excluded.app_version,
    token_id = excluded.token_id, updated_at = excluded.updated_at
    ${writesPushToken ? sql.part`, push_token = excluded.push_token` : sql.empty}`;

/** Deletes a device. Throws 404 if there is none. */
export const deleteDevice = (db: Db, { memberId }: Caller, deviceId: string): Promise<{ id: string }> =>
  db.get(
    sql<
      Pick<Selectable<DB['devices']>, 'id'>
    >`delete from devices where ${orgFilter()} and member_id = ${memberId} and device_id = ${deviceId} returning id`,
  );
