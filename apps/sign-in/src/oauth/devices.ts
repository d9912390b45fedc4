/**
 * Device authorization requests (RFC 8628). They are found and answered by the code that a person types in a
 * browser.
 */
import { type Db, sql } from '@muster/driver';

export interface PendingDevice {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string | null;
  readonly origin: DeviceOrigin;
}

/** The origin of the request for the code. */
export interface DeviceOrigin {
  readonly ip: string | null;
  /** Self-reported by the program, so it proves nothing. */
  readonly userAgent: string | null;
}

/** Finds the device that shows this code; undefined if there is none, or it has expired or been answered. */
export async function findDevice(db: Db, code: string): Promise<PendingDevice | undefined> {
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

/** Stores the answer for a device; returns false if it already has one. */
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
