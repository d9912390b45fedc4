/**
 * The keys of a GitHub App that was created from Muster's manifest. They are fetched once, with the code from
 * GitHub.
 */
import { type PlainDb } from '@muster/driver';
import { forgeApiRoot, parseUntrustedJson } from '@muster/contract';
import { runAsSystem } from '@muster/runtime';
import { getOrganizationKey, systemAuditFacts } from '@muster/tenancy';
import { z } from 'zod';
import { githubHeaders } from './calls/authorize.ts';
import { requireSuccess, ForgeRefusal } from './calls/call.ts';
import {
  connectionSubject,
  appCodeSecretOwner,
  connections,
  lockConnection,
  storeFailure,
  webhookSecretOwner,
  getTransactionTime,
} from './data/connections.ts';
import { resetCallsAndStatuses } from './data/statuses.ts';
import { sealCredentials } from './operations/set-up.ts';
import { type ForgeCalls, withFailureStored, type AfterJobTransaction } from './statuses.ts';
import { forgeActor } from './translate.ts';

const App = z.object({
  id: z.int(),
  html_url: z.url(),
  webhook_secret: z.string().min(1),
  pem: z.string().min(1),
});
type App = z.infer<typeof App>;

function parseApp(text: string): App {
  try {
    return App.parse(parseUntrustedJson(text));
  } catch (error) {
    const problem = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'not valid JSON';
    const message = `GitHub answered in an unexpected format: ${problem}`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
}

export interface CreatedAppCode {
  readonly connectionId: string;
  /** The encrypted code. */
  readonly code: string;
}

interface FetchKeysJob {
  readonly db: PlainDb;
  readonly orgId: string;
}

/**
 * Fetches the app's webhook secret and credentials and stores them in the connection. A code works only once.
 */
export async function fetchAppKeys(
  calls: ForgeCalls,
  { db, orgId }: FetchKeysJob,
  { connectionId, code: sealed }: CreatedAppCode,
): Promise<AfterJobTransaction | undefined> {
  const { seals, environment } = calls;
  const { kind, base_url: baseUrl, ...before } = await connections.get(db, connectionId);
  if (before.deleted_at !== null || before.credentials_kind !== null) return undefined;
  const organizationKey = await getOrganizationKey(db);
  const make = async (): Promise<App> => {
    const code = seals.decrypt(
      appCodeSecretOwner(organizationKey, connectionId),
      Buffer.from(sealed, 'base64'),
    );
    if (code === undefined) {
      const message = 'none of the keys in SECRETS_KEY can decrypt the code';
      throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
    }
    const url = `${forgeApiRoot(kind, baseUrl)}/app-manifests/${code}/conversions`;
    return parseApp(
      requireSuccess(url, await calls.ask({ method: 'POST', url, headers: githubHeaders })).text,
    );
  };
  return async () => {
    const made = await withFailureStored(calls, { orgId, connectionId }, 'makeApp', make);
    if (made instanceof Error) return undefined;
    return async (after) => {
      const facts = systemAuditFacts('forge.app', connectionId);
      const work = { db: after, orgId, actor: forgeActor(kind), facts };
      await runAsSystem(work, environment, async (_perform, emit) => {
        const connection = await lockConnection(after, connectionId);
        // Another caller added credentials in the meantime.
        if (connection.credentials_kind !== null) return;
        const credentials = { appId: made.id, privateKey: made.pem };
        const changes = {
          ...sealCredentials({ seals }, connectionId, organizationKey, credentials),
          secret: seals.encrypt(webhookSecretOwner(organizationKey, connectionId), made.webhook_secret),
          app_url: made.html_url.replace(/\/+$/, ''),
        };
        const at = await getTransactionTime(after);
        const saved = connections.save(after, connection, changes, at);
        after.deferToCommit(storeFailure(connectionId, null));
        for (const query of resetCallsAndStatuses(connectionId)) after.deferToCommit(query);
        const fields = ['credentials', 'secret'];
        emit({ kind: 'forge.updated', subject: connectionSubject(saved), data: { fields } });
      });
    };
  };
}
