/**
 * The organization in which every operation's example works: WEB with its columns, two stories, an epic and a
 * comment under the ids that the contract's examples name; DOCS with a board of two columns; OLD, to be deleted.
 * Made by SQL, since the examples name ids and the API gives out its own.
 */
import { newId } from '@muster/database';
import { type People, type Person, type Makers, type World } from '../world.ts';
import { arrangePeople, takeSlug } from './people.ts';
import { arrangeAccess } from './access.ts';
import { arrangeCatalog } from './agents.ts';
import { arrangeDelivery } from './delivery.ts';
import { arrangeForges } from './forges.ts';
import { arrangeIdentityProviders } from './identity-providers.ts';
import { arrangeImport } from './imports.ts';
import { arrangeInvitations } from './invitations.ts';
import { arrangeLocks } from './locks.ts';
import { arrangeAgreements } from './agreements.ts';
import { arrangeReviews } from './review.ts';
import { arrangeSignals } from './signals.ts';
import { arrangeConnections } from './connections.ts';
import { arrangeSessions } from './sessions.ts';
import { arrangeTokens } from './tokens.ts';
import { arrangeWebhooks } from './webhooks.ts';

export const exampleIds = {
  column: '01936d5c-0000-7000-8000-000000000001',
  epic: '01936d5c-0000-7000-8000-000000000002',
  comment: '01936d5c-0000-7000-8000-000000000003',
  leftColumn: '01936d5c-0000-7000-8000-000000000011',
  rightColumn: '01936d5c-0000-7000-8000-000000000012',
} as const;

/** The records of one organization, by kind, for a spec that names one. */
export interface Records {
  readonly project: string;
  readonly column: string;
  readonly epic: string;
  readonly story: string;
  readonly comment: string;
  readonly member: string;
  readonly team: string;
  readonly agent: string;
  readonly accessRequest: string;
  readonly notification: string;
  readonly invitation: string;
  readonly execution: string;
  readonly lock: string;
  readonly catalogAgent: string;
  readonly group: string;
  readonly token: string;
  readonly session: string;
  readonly passkey: string;
  readonly identityProvider: string;
  readonly connection: string;
  readonly forgeConnection: string;
  readonly forgeDelivery: string;
  readonly import: string;
  readonly webhook: string;
  readonly webhookDelivery: string;
}

export interface ExampleOrg extends People {
  readonly records: Records;
  /** People whose only role in WEB is the one they are called by, where WEB is private. */
  readonly lead: Person;
  readonly contributor: Person;
  readonly looker: Person;
  /** Ana's token of scope platform, and of no other. */
  readonly operator: Person;
  /** A member with no role in WEB, where it is private. */
  readonly outsider: Person;
}

const storyTitles = ['Sign in with a passkey', 'Reset a passkey by mail'] as const;
const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'] as const;

interface SetUp {
  readonly visibility?: 'org' | 'private';
  /** The contract's ids, or fresh ones for an organization that plays the other one. */
  readonly ids?: 'examples' | 'fresh';
}

export const exampleOrg = (world: World, setUp: SetUp = {}): Promise<ExampleOrg> =>
  world.gathered((makers) => makeExampleOrg(makers, setUp));

async function makeExampleOrg(
  world: Makers,
  { visibility = 'private', ids = 'examples' }: SetUp,
): Promise<ExampleOrg> {
  const people = await world.org();
  const { orgId, ana, robo } = people;
  const idOf = (wanted: string): string => (ids === 'examples' ? wanted : newId());
  const slug = ids === 'examples' ? 'acme' : people.slug;
  await takeSlug(world, orgId, slug);
  const { team } = await arrangePeople(world, { orgId, anaId: ana.me.memberId, idOf });
  const author = JSON.stringify({
    kind: 'member',
    memberId: ana.me.memberId,
    agentId: null,
    name: ana.me.name,
  });

  const project = async (key: string, sees: string): Promise<string> => {
    const id = newId();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
      orgId,
      id,
      key,
      sees,
    );
    await world.rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, id);
    return id;
  };
  const column = async (projectId: string, id: string, status: string, position: number): Promise<string> => {
    await world.rows(
      'insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, $4, $4, $5)',
      orgId,
      id,
      projectId,
      status,
      position,
    );
    return id;
  };

  const web = await project('WEB', visibility);
  const columns: string[] = [];
  for (const [position, status] of statuses.entries())
    columns.push(await column(web, newId(), status, position));
  const spare = await column(web, idOf(exampleIds.column), 'ready', statuses.length);
  const epic = idOf(exampleIds.epic);
  await world.rows(
    'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
    orgId,
    epic,
    web,
    'Accounts',
  );
  const stories = storyTitles.map(() => newId());
  for (const [index, id] of stories.entries()) {
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, epic_id, created_by, spec_version)
       values ($1, $2, $3, $4, $5, 'backlog', $6, $7, $8, $9, 1)`,
      orgId,
      id,
      web,
      index + 1,
      storyTitles[index],
      columns[0],
      `a${index}`,
      epic,
      author,
    );
    await world.rows(
      `insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author)
       values ($1, $2, 1, '# First', 'hash', 1, 0, $3)`,
      orgId,
      id,
      author,
    );
  }
  await world.rows(
    'update project_counters set last_story_number = 2 where org_id = $1 and project_id = $2',
    orgId,
    web,
  );
  const comment = idOf(exampleIds.comment);
  await world.rows(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id) values ($1, $2, $3, 'comment', 'Hello', $4, $5)`,
    orgId,
    comment,
    stories[0],
    author,
    ana.me.memberId,
  );

  await arrangeAgreements(world, { orgId, projectId: web, storyId: stories[0], author });
  await arrangeReviews(world, { orgId, projectId: web, stories, anaId: ana.me.memberId, idOf });

  const { notification } = await arrangeSignals(world, { orgId, ana, idOf });

  const { invitation } = await arrangeInvitations(world, { orgId, author, idOf });

  const { execution, group } = await arrangeDelivery(world, {
    orgId,
    ana,
    projectId: web,
    storyId: stories[1] ?? '',
    idOf,
  });
  const { catalogAgent } = await arrangeCatalog(world, { orgId, ana, author, idOf });
  const { forgeConnection, forgeDelivery } = await arrangeForges(world, {
    ...{ orgId, projectId: web, author, idOf },
  });
  const { identityProvider } = await arrangeIdentityProviders(world, { orgId, author, idOf });
  const { lock } = await arrangeLocks(world, { orgId, ana, projectId: web, idOf });
  const { accessRequest } = await arrangeAccess(world, { orgId, projectId: web, idOf });

  const imported = await arrangeImport(world, { orgId, projectId: web, author, idOf });
  const { token, agent: agentId } = await arrangeTokens(world, { orgId, ana, idOf });
  const { connection } = await arrangeConnections(world, { orgId, ana, agentId, idOf });
  const { session, passkey } = await arrangeSessions(world, { orgId, ana, idOf });
  const { webhook, webhookDelivery } = await arrangeWebhooks(world, {
    ...{ orgId, ana, projectId: web, author, idOf },
  });

  const docs = await project('DOCS', visibility);
  await column(docs, idOf(exampleIds.leftColumn), 'backlog', 0);
  await column(docs, idOf(exampleIds.rightColumn), 'done', 1);
  await project('OLD', 'org');

  const withRole = async (name: string, role: string | null): Promise<Person> => {
    const person = await world.member(orgId, name, 'member');
    if (role !== null) {
      await world.rows(
        'insert into project_members (org_id, project_id, member_id, role) select $1, unnest($2::uuid[]), $3, $4',
        orgId,
        [web, docs],
        person.me.memberId,
        role,
      );
    }
    return person;
  };
  await world.rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'contributor')`,
    orgId,
    web,
    people.chloe.me.memberId,
  );
  return {
    ...people,
    slug,
    lead: await withRole('Lea', 'lead'),
    contributor: await withRole('Carl', 'contributor'),
    looker: await withRole('Vera', 'viewer'),
    outsider: await withRole('Olaf', null),
    operator: await world.token(orgId, ana.me.memberId, { scopes: ['platform'] }),
    records: {
      project: web,
      column: spare,
      epic,
      story: stories[0] ?? '',
      comment,
      member: ana.me.memberId,
      team,
      agent: robo.me.agentId ?? '',
      accessRequest,
      notification,
      invitation,
      execution,
      lock,
      catalogAgent,
      group,
      token,
      session,
      passkey,
      identityProvider,
      connection,
      forgeConnection,
      forgeDelivery,
      import: imported,
      webhook,
      webhookDelivery,
    },
  };
}
