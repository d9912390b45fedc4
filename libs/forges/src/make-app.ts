/**
 * The keys of a GitHub App that was created from Muster's manifest. They are fetched once, with the code from
 * GitHub.
 */
import { type PlainDb } from '@muster/driver';
import { forgeApiRoot, parseUntrustedJson } from '@muster/registry';
import { asSystem } from '@muster/runtime';
import { getOrganizationKey, systemFacts } from '@muster/tenancy';
import { z } from 'zod';
import { githubHeaders } from './calls/authorize.ts';
import { expectGood, ForgeRefusal } from './calls/call.ts';
import {
  aboutConnection,
  codeOwner,
  connections,
  lockConnection,
  noteFailure,
  secretOwner,
  transactionTime,
} from './data/connections.ts';
import { callAnew } from './data/statuses.ts';
import { sealedCredentials } from './operations/set-up.ts';
import { type ForgeCalls, notingFailure, type SendStatus } from './statuses.ts';
import { forgeActor } from './translate.ts';

const App = z.object({
  id: z.int(),
  html_url: z.url(),
  webhook_secret: z.string().min(1),
  pem: z.string().min(1),
});
type App = z.infer<typeof App>;

function appIn(text: string): App {
  try {
    return App.parse(parseUntrustedJson(text));
  } catch (error) {
    const said = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'not valid JSON';
    const message = `GitHub answered in an unexpected format: ${said}`;
    throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
  }
}

export interface MadeApp {
  readonly connectionId: string;
  /** The encrypted code. */
  readonly code: string;
}

interface Job {
  readonly db: PlainDb;
  readonly orgId: string;
}

/**
 * Fetches the app's webhook secret and credentials and stores them in the connection. A code works only once.
 */
export async function makeApp(
  calls: ForgeCalls,
  { db, orgId }: Job,
  { connectionId, code: sealed }: MadeApp,
): Promise<SendStatus | undefined> {
  const { seals, environment } = calls;
  const { kind, base_url: baseUrl, ...before } = await connections.get(db, connectionId);
  if (before.deleted_at !== null || before.credentials_kind !== null) return undefined;
  const organizationKey = await getOrganizationKey(db);
  const make = async (): Promise<App> => {
    const code = seals.open(codeOwner(organizationKey, connectionId), Buffer.from(sealed, 'base64'));
    if (code === undefined) {
      const message = 'none of the keys in SECRETS_KEY can decrypt the code';
      throw new ForgeRefusal(message, { quietUntil: null, isFinal: true });
    }
    const url = `${forgeApiRoot(kind, baseUrl)}/app-manifests/${code}/conversions`;
    return appIn(expectGood(url, await calls.ask({ method: 'POST', url, headers: githubHeaders })).text);
  };
  return async () => {
    const made = await notingFailure(calls, { orgId, connectionId }, 'makeApp', make);
    if (made instanceof Error) return undefined;
    return async (after) => {
      const facts = systemFacts('forge.app', connectionId);
      const work = { db: after, orgId, actor: forgeActor(kind), facts };
      await asSystem(work, environment, async (_perform, emit) => {
        const connection = await lockConnection(after, connectionId);
        // Another caller added credentials in the meantime.
        if (connection.credentials_kind !== null) return;
        const credentials = { appId: made.id, privateKey: made.pem };
        const changes = {
          ...sealedCredentials({ seals }, connectionId, organizationKey, credentials),
          secret: seals.seal(secretOwner(organizationKey, connectionId), made.webhook_secret),
          app_url: made.html_url.replace(/\/+$/, ''),
        };
        const at = await transactionTime(after);
        const saved = connections.save(after, connection, changes, at);
        after.later(noteFailure(connectionId, null));
        for (const query of callAnew(connectionId)) after.later(query);
        const fields = ['credentials', 'secret'];
        emit({ kind: 'forge.updated', subject: aboutConnection(saved), data: { fields } });
      });
    };
  };
}
