/** Devices that wait for their code to be typed in elsewhere (RFC 8628): their rows are found, and answered, by that code. */
import { type Db, sql } from '@muster/driver';

export interface WaitingDevice {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string | null;
  readonly origin: DeviceOrigin;
}

/** Where the request for the code came from. */
export interface DeviceOrigin {
  readonly ip: string | null;
  /** Self-reported by the program, so it proves nothing. */
  readonly userAgent: string | null;
}

/** The device that shows this code; undefined where none does, its time is over, or it has its answer. */
export async function findDevice(db: Db, code: string): Promise<WaitingDevice | undefined> {
  const row = await db.find(
    sql<{
      clientId: string | null;
      scope: string | null;
      resource: string | null;
      ip: string | null;
      userAgent: string | null;
    }>`select payload ->> 'clientId' as "clientId", payload -> 'params' ->> 'scope' as scope, payload -> 'params' ->> 'resource' as resource,
         payload -> 'deviceInfo' ->> 'ip' as ip, payload -> 'deviceInfo' ->> 'userAgent' as "userAgent"
       from sign_in.oauth_records
       where model = 'DeviceCode' and user_code = ${code} and expires_at > now() and consumed_at is null
         and not payload ?| array['accountId', 'error']`,
  );
  if (row?.clientId == null) return undefined;
  const { clientId, scope, resource, ip, userAgent } = row;
  return { clientId, scopes: scope?.split(' ') ?? [], resource, origin: { ip, userAgent } };
}

/** Tells a device; false where it has its answer already. */
export async function answerDevice(
  db: Db,
  code: string,
  answer:
    | { readonly error: string }
    | {
        readonly accountId: string;
        readonly grantId: string;
        readonly scope: string;
        readonly resource: string;
      },
): Promise<boolean> {
  const row = await db.find(
    sql<{
      model: string;
    }>`update sign_in.oauth_records set payload = payload || ${JSON.stringify(answer)}::jsonb,
         grant_id = ${'grantId' in answer ? answer.grantId : null}
       where model = 'DeviceCode' and user_code = ${code} and expires_at > now() and consumed_at is null
         and not payload ?| array['accountId', 'error'] returning model`,
  );
  return row !== undefined;
}
