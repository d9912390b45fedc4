/**
 * The page that makes a GitHub App for a connection. No token: who has the address, whose ticket was answered to an admin,
 * may. GitHub sends the browser back with a code, for which a job fetches the app's keys.
 */
import { type Db, type Pool } from '@muster/driver';
import { isUuid } from '@muster/registry';
import { badRequest, notFound, unauthorized } from '@muster/runtime';
import { findForgeDoor, type ForgeDoor, inOrganizationAsSystem, outboxRow } from '@muster/tenancy';
import {
  codeOwner,
  type ConnectionRow,
  getConnection,
  noteFailure,
  ticketOwner,
} from './data/connections.ts';
import { appPath, type ForgesSetUp, hookPath } from './operations/set-up.ts';
import { isOrganizationName, manifestOf, newAppUrl } from './rules/app-manifest.ts';

export type AppPage =
  | {
      readonly state: 'open';
      /** Where the manifest is posted to, and what it is. */
      readonly action: string;
      readonly manifest: string;
      /** Why the app that was made before is of no use. */
      readonly failure: string | null;
    }
  | { readonly state: 'made'; readonly installUrl: string }
  /** The connection is called otherwise. */
  | { readonly state: 'taken' };

export interface Ticket {
  readonly connectionId: string;
  readonly ticket: string;
}

/** Throws 404 for what is no connection to GitHub, 401 for a ticket that was not given out or whose hour is over. */
async function enter(
  pool: Pool,
  { seals }: ForgesSetUp,
  { connectionId, ticket }: Ticket,
): Promise<ForgeDoor> {
  const door = isUuid(connectionId) ? await findForgeDoor(pool, connectionId) : undefined;
  if (door?.kind !== 'github') throw notFound();
  const owner = ticketOwner(door.organizationKey, connectionId);
  const until = seals.open(owner, Buffer.from(ticket, 'base64url'));
  if (until === undefined || Date.parse(until) < Date.now()) throw unauthorized();
  return door;
}

const failureOf = ({ last_error: error }: ConnectionRow): string | null =>
  error?.doing === 'makeApp' ? error.message : null;

/** What the page shows; `organization` is who is to own the app at GitHub. Throws 400 for a name that GitHub has none of. */
export async function readAppPage(
  pool: Pool,
  setUp: ForgesSetUp,
  { organization, ...asked }: Ticket & { readonly organization?: string | undefined },
): Promise<AppPage> {
  const { orgId } = await enter(pool, setUp, asked);
  const { connectionId, ticket } = asked;
  if (organization !== undefined && !isOrganizationName(organization))
    throw badRequest('That is no name of an organization at GitHub.');
  const read = (db: Db): Promise<ConnectionRow> => getConnection(db, connectionId);
  const connection = await inOrganizationAsSystem(pool, orgId, read);
  if (connection.app_url !== null)
    return { state: 'made', installUrl: `${connection.app_url}/installations/new` };
  if (connection.credentials_kind !== null) return { state: 'taken' };
  const { baseUrl } = setUp;
  const manifest = manifestOf({
    ...{ connectionId, baseUrl, webhookUrl: baseUrl + hookPath(connectionId) },
    redirectUrl: `${baseUrl}${appPath(connectionId)}/made`,
  });
  return {
    ...{ state: 'open', manifest: JSON.stringify(manifest), failure: failureOf(connection) },
    action: newAppUrl(connection.base_url, organization, ticket),
  };
}

/** Takes the code of an app that was made, and asks for its keys to be fetched; nothing where there are credentials. */
export async function takeAppCode(
  pool: Pool,
  setUp: ForgesSetUp,
  { code, ...ticket }: Ticket & { readonly code: string },
): Promise<void> {
  const { orgId, organizationKey } = await enter(pool, setUp, ticket);
  const { connectionId } = ticket;
  // It stands in an address.
  if (!/^[\w-]{1,255}$/.test(code)) throw badRequest('GitHub gave no code for the app.');
  await inOrganizationAsSystem(pool, orgId, async (db) => {
    const { credentials_kind: kind } = await getConnection(db, connectionId);
    if (kind !== null) return;
    const sealed = setUp.seals.seal(codeOwner(organizationKey, connectionId), code).toString('base64');
    db.later(noteFailure(connectionId, null));
    db.later(outboxRow('forge.app', { connectionId, code: sealed }));
  });
}
