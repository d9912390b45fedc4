/**
 * Devices of members, by the ids that their clients assigned. A push token can be written, but is never
 * answered.
 */
import {
  CursorId,
  type Db,
  type DB,
  decodeCursor,
  orgFilter,
  currentOrgId,
  type Page,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type SecretOwner } from '@muster/outbound';
import { chatServices, type Device, type ParamsOf } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

const devices = defineView(
  'devices',
  'd',
  ['id', 'device_id', 'name', 'platform', 'app_version', 'created_at', 'updated_at'],
  ['member_id', 'push_token', 'token_id'],
);
export type DeviceRow = RowOf<typeof devices>;

/** The maximum number of devices of one member, including chat channels. */
export const maxDevicesPerMember = 50;

export const toDevice = (row: DeviceRow): Device => ({
  ...devices.shown(row),
  takesPush: row.push_token !== null,
});

/** Names the owner of a chat channel's encrypted URL, which cannot be decrypted as that of another device. */
export const deviceSecretOwner = (organizationKey: Buffer, id: string): SecretOwner => ({
  organizationKey,
  name: `device ${id} address`,
});

const Cursor = z.tuple([CursorId]);

/** SQL that is true if device `d` ends with a token that has ended. */
const hasEndedTokenSql = sql.part`d.token_id is not null and not exists (select from tokens t where ${orgFilter('t')}
  and t.id = d.token_id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))`;

/** Lists the caller's devices in pages, oldest first. Devices whose tokens have ended are left out. */
export async function listDevices(
  db: Db,
  { memberId }: Caller,
  { limit, cursor }: ParamsOf<OrganizationsRegistry['devices']['list']>,
): Promise<Page<Device>> {
  const [after = null] = decodeCursor(cursor, Cursor) ?? [];
  const rows = await db.all(
    sql<DeviceRow>`select ${devices.list} from devices d
       where ${orgFilter('d')} and d.member_id = ${memberId} and (${after}::uuid is null or d.id > ${after}::uuid)
         and not (${hasEndedTokenSql})
       order by d.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toDevice);
}

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

interface DeviceCounts {
  readonly all: number;
  /** The number of chat channels among them. */
  readonly chats: number;
}

/** Counts the caller's devices. */
export const countDevices = (db: Db, { memberId }: Caller): Promise<DeviceCounts> =>
  db.one(
    sql<DeviceCounts>`select count(*) as all, count(*) filter (where platform = any (${chatServices}::text[])) as chats
      from devices where ${orgFilter()} and member_id = ${memberId}`,
  );

/** Serializes calls that register the same push token, so that only one member has it in the end. */
export const lockPushToken = (db: Db, pushToken: string): Promise<unknown> =>
  db.all(
    sql`select pg_advisory_xact_lock(hashtextextended(${currentOrgId}::text || ' ' || ${pushToken}::text, 0))`,
  );

/** Serializes calls that connect the same Slack account, which belongs to one member at most. */
export const lockSlackAccount = lockPushToken;

/** Deletes the connection of a Slack account whose token has ended, so that another member can connect it. */
export const deleteEndedSlackAccount = (db: Db, deviceId: string): Promise<unknown> =>
  db.all(
    sql`delete from devices d where ${orgFilter('d')} and d.device_id = ${deviceId} and d.platform = 'slack_account'
      and ${hasEndedTokenSql}`,
  );

export const findSlackAccountDevice = (db: Db, deviceId: string): Promise<DeviceRow | undefined> =>
  db.find(
    sql<DeviceRow>`select ${devices.list} from devices d
       where ${orgFilter('d')} and d.device_id = ${deviceId} and d.platform = 'slack_account'`,
  );

export interface SlackAccountOwner {
  readonly organizationKey: Buffer;
  /** The active member to whom the Slack account is connected; null if there is none. */
  readonly member: { readonly id: string; readonly name: string } | null;
}

/** Finds the owner of a Slack account. Returns undefined if the organization does not exist. */
export const findSlackAccountOwner = (db: Db, deviceId: string): Promise<SlackAccountOwner | undefined> =>
  db.find(
    sql<SlackAccountOwner>`select k.cursor_key as "organizationKey",
        (select jsonb_build_object('id', m.id, 'name', m.name) from devices d
          join members m on ${orgFilter('m')} and m.id = d.member_id and m.status = 'active'
          where ${orgFilter('d')} and d.device_id = ${deviceId} and d.platform = 'slack_account'
            and not (${hasEndedTokenSql})) as member
      from streams k join orgs o on o.id = k.org_id and o.deleted_at is null where ${orgFilter('k')}`,
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

/** Adds a device. Fails if the member has one with this id. */
export const insertDevice = (device: DeviceRow): Query<unknown> =>
  sql.insert('devices', devices.names, device);

/** Returns the token with which a chat channel ends: the caller's, unless that is the one of a session. */
export const findTokenOfChannel = async (db: Db, { tokenId }: Caller): Promise<string | null> =>
  (
    await db.find(
      sql<{ id: string }>`select t.id from tokens t
         where ${orgFilter('t')} and t.id = ${tokenId} and t.session_id is null`,
    )
  )?.id ?? null;

/** Deletes a device. Throws 404 if there is none. */
export const deleteDevice = (db: Db, { memberId }: Caller, deviceId: string): Promise<{ id: string }> =>
  db.get(
    sql<
      Pick<Selectable<DB['devices']>, 'id'>
    >`delete from devices where ${orgFilter()} and member_id = ${memberId} and device_id = ${deviceId} returning id`,
  );
