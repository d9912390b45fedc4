/**
 * The page that creates a GitHub App for a connection. It needs no token: its URL contains a ticket that only
 * an admin received. GitHub redirects the browser back with a code, with which a job fetches the app's keys.
 */
import { type Db, type Pool } from '@muster/driver';
import { isUuid } from '@muster/contract';
import { badRequest, notFound, unauthorized } from '@muster/runtime';
import {
  findForgeDeliveryKeys,
  type ForgeDeliveryKeys,
  inOrganizationAsSystem,
  outboxRow,
} from '@muster/tenancy';
import {
  appCodeSecretOwner,
  type ConnectionRow,
  getConnection,
  storeFailure,
  ticketSecretOwner,
} from './data/connections.ts';
import { appPagePath, type ForgesConfig, webhookPath } from './operations/set-up.ts';
import { isOrganizationName, createManifest, newAppUrl } from './rules/app-manifest.ts';

export type AppPage =
  | {
      readonly state: 'open';
      /** The URL to which the form posts the manifest, and the manifest itself. */
      readonly action: string;
      readonly manifest: string;
      /** The reason why an app that was created before cannot be used. */
      readonly failure: string | null;
    }
  | { readonly state: 'made'; readonly installUrl: string }
  /** The connection already has other credentials. */
  | { readonly state: 'taken' };

export interface AppTicket {
  readonly connectionId: string;
  readonly ticket: string;
}

/**
 * Checks the ticket. Throws 404 if this is not a connection to GitHub, and 401 if the ticket is invalid or
 * older than one hour.
 */
async function requireValidTicket(
  pool: Pool,
  { seals }: ForgesConfig,
  { connectionId, ticket }: AppTicket,
): Promise<ForgeDeliveryKeys> {
  const door = isUuid(connectionId) ? await findForgeDeliveryKeys(pool, connectionId) : undefined;
  if (door?.kind !== 'github') throw notFound();
  const owner = ticketSecretOwner(door.organizationKey, connectionId);
  const until = seals.decrypt(owner, Buffer.from(ticket, 'base64url'));
  if (until === undefined || Date.parse(until) < Date.now()) throw unauthorized();
  return door;
}

const appFailureMessage = ({ last_error: error }: ConnectionRow): string | null =>
  error?.doing === 'makeApp' ? error.message : null;

/**
 * Returns the content of the page. `organization` is the GitHub organization that will own the app. Throws
 * 400 for a name that is invalid at GitHub.
 */
export async function readAppPage(
  pool: Pool,
  config: ForgesConfig,
  { organization, ...asked }: AppTicket & { readonly organization?: string | undefined },
): Promise<AppPage> {
  const { orgId } = await requireValidTicket(pool, config, asked);
  const { connectionId, ticket } = asked;
  if (organization !== undefined && !isOrganizationName(organization))
    throw badRequest('Not a valid name of a GitHub organization.');
  const read = (db: Db): Promise<ConnectionRow> => getConnection(db, connectionId);
  const connection = await inOrganizationAsSystem(pool, orgId, read);
  if (connection.app_url !== null)
    return { state: 'made', installUrl: `${connection.app_url}/installations/new` };
  if (connection.credentials_kind !== null) return { state: 'taken' };
  const { baseUrl } = config;
  const manifest = createManifest({
    ...{ connectionId, baseUrl, webhookUrl: baseUrl + webhookPath(connectionId) },
    redirectUrl: `${baseUrl}${appPagePath(connectionId)}/made`,
  });
  return {
    ...{ state: 'open', manifest: JSON.stringify(manifest), failure: appFailureMessage(connection) },
    action: newAppUrl(connection.base_url, organization, ticket),
  };
}

/**
 * Accepts the code of a created app and requests a job that fetches its keys. It does nothing if the
 * connection has credentials.
 */
export async function acceptAppCode(
  pool: Pool,
  config: ForgesConfig,
  { code, ...ticket }: AppTicket & { readonly code: string },
): Promise<void> {
  const { orgId, organizationKey } = await requireValidTicket(pool, config, ticket);
  const { connectionId } = ticket;
  // The code becomes part of a URL, so reject a code with other characters than letters, digits, `_` and `-`.
  if (!/^[\w-]{1,255}$/.test(code))
    throw badRequest('GitHub did not return a code for the app. Start again from the link.');
  await inOrganizationAsSystem(pool, orgId, async (db) => {
    const { credentials_kind: kind } = await getConnection(db, connectionId);
    if (kind !== null) return;
    const sealed = config.seals
      .encrypt(appCodeSecretOwner(organizationKey, connectionId), code)
      .toString('base64');
    db.deferToCommit(storeFailure(connectionId, null));
    db.deferToCommit(outboxRow('forge.app', { connectionId, code: sealed }));
  });
}
