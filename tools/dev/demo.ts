import { connect, MusterError } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import {
  addMember,
  createOrganization,
  createToken,
  grantPlatformAccess,
  listMembers,
  listOrganizations,
} from '@muster/organizations';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { demoProjectKey, makeDemoBoard } from './demo-board.ts';
import { type Tokens } from './dev-file.ts';
import { dataFolder } from './repository.ts';

const demoOrgSlug = 'acme';

export const demoOwner = { email: 'ana@acme.example', name: 'Ana' };
const others = [
  { email: 'ben@acme.example', name: 'Ben', role: 'admin' },
  { email: 'chloe@acme.example', name: 'Chloé', role: 'member' },
  { email: 'dan@acme.example', name: 'Dan', role: 'viewer' },
] as const;

/** The viewer's token may write, so that the role decides what Dan can do. */
const demoTokens = {
  owner: { member: demoOwner.email, name: 'demo', scope: 'admin' },
  admin: { member: 'ben@acme.example', name: 'demo', scope: 'admin' },
  member: { member: 'chloe@acme.example', name: 'demo', scope: 'write' },
  viewer: { member: 'dan@acme.example', name: 'demo', scope: 'write' },
  agent: { member: 'chloe@acme.example', name: 'demo', scope: 'write', agent: 'Builder' },
} as const;

/** The owner of each token, for people to read. */
export const demoPeople: Record<keyof Tokens, string> = {
  owner: 'Ana',
  admin: 'Ben',
  member: 'Chloé',
  viewer: 'Dan',
  agent: 'Builder, an agent of Chloé’s',
  platform: 'Ana, as operator of the installation',
};

export interface Demo {
  readonly orgSlug: string;
  /** Null if the demo's project was deleted and no other was created. */
  readonly projectKey: string | null;
  readonly tokens: Tokens;
}

/**
 * A file that exists while the demo is being created. If a start was killed in between, the next one creates
 * the demo again.
 */
const unfinished = path.join(dataFolder, 'demo-unfinished');

/**
 * Creates the demo in an empty database. If the demo exists, returns working tokens: those of the last start,
 * or new ones if they were lost.
 * Returns undefined for a database with other organizations, which it does not change.
 */
export async function provideDemo(
  databaseUrl: string,
  baseUrl: string,
  lastTokens: Tokens | undefined,
): Promise<Demo | undefined> {
  const pool = createPool({ url: databaseUrl, role: null, name: 'muster-start', max: 2 });
  try {
    const organizations = await listOrganizations(pool);
    if (organizations.length === 0) {
      writeFileSync(unfinished, '');
      await createOrganization(pool, {
        name: 'Acme',
        slug: demoOrgSlug,
        plan: 'team',
        seats: 25,
        owner: demoOwner,
      });
    } else if (!organizations.some(({ slug }) => slug === demoOrgSlug)) return undefined;

    if (existsSync(unfinished)) await addMissingMembers(pool);
    else if ((await missingMembers(pool)).length > 0) return undefined;

    const lastOnesWork = lastTokens !== undefined && (await allWork(baseUrl, lastTokens));
    const tokens = lastOnesWork ? lastTokens : await makeTokens(pool);
    if (existsSync(unfinished)) {
      await removeUnfinishedBoard(baseUrl, tokens);
      await makeDemoBoard(baseUrl, tokens, pool);
      rmSync(unfinished);
    }
    return { orgSlug: demoOrgSlug, projectKey: await findProjectKey(baseUrl, tokens), tokens };
  } finally {
    await pool.end();
  }
}

async function missingMembers(pool: Pool): Promise<(typeof others)[number][]> {
  const present = new Set((await listMembers(pool, { org: demoOrgSlug })).map(({ email }) => email));
  return others.filter(({ email }) => !present.has(email));
}

async function addMissingMembers(pool: Pool): Promise<void> {
  for (const member of await missingMembers(pool)) await addMember(pool, { org: demoOrgSlug, ...member });
}

async function makeTokens(pool: Pool): Promise<Tokens> {
  const make = async (who: keyof typeof demoTokens): Promise<string> => {
    const { scope, ...rest } = demoTokens[who];
    const { token } = await createToken(pool, { org: demoOrgSlug, ...rest, scopes: [scope] });
    return token;
  };
  const platform = await grantPlatformAccess(pool, { org: demoOrgSlug, member: demoOwner.email });
  return {
    owner: await make('owner'),
    admin: await make('admin'),
    member: await make('member'),
    viewer: await make('viewer'),
    agent: await make('agent'),
    platform: platform.token,
  };
}

/** Returns true if the API accepts all tokens. It refuses revoked tokens and tokens of another database. */
async function allWork(baseUrl: string, tokens: Tokens): Promise<boolean> {
  const answers = await Promise.all(
    Object.values(tokens).map((token) =>
      connect({ baseUrl, token })
        .session.identity({})
        .then(
          () => true,
          (error: unknown) => {
            // The platform token may not call `session.identity`. Any refusal except a 401 proves that the
            // API knows the token.
            if (error instanceof MusterError) return error.status !== 401;
            throw error;
          },
        ),
    ),
  );
  return answers.every((works) => works);
}

async function findProjectKey(baseUrl: string, { owner: token }: Tokens): Promise<string | null> {
  const { items } = await connect({ baseUrl, token }).projects.list({});
  return (items.find(({ key }) => key === demoProjectKey) ?? items[0])?.key ?? null;
}

async function removeUnfinishedBoard(baseUrl: string, { owner: token }: Tokens): Promise<void> {
  const { projects } = connect({ baseUrl, token });
  const { items } = await projects.list({ includeArchived: true });
  if (!items.some(({ key }) => key === demoProjectKey)) return;
  await projects.delete({ projectId: demoProjectKey, confirmKey: demoProjectKey });
}
