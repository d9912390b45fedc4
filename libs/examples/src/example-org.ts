/**
 * The organization in which the example of every operation works.
 * - WEB has its columns, two stories, an epic and a comment, with the ids that the contract's examples name.
 * - DOCS has a board of two columns.
 * - OLD exists to be deleted.
 * It is written by SQL, because the examples name ids and the API generates its own.
 */
import { newId } from '@muster/driver';
import { type People, type Person, type Makers, type World } from '@muster/testing/world';
import { arrangePeople, assignSlug } from './people.ts';
import { arrangeAccess } from './access.ts';
import { arrangeAttachment } from './attachments.ts';
import { arrangeCatalog } from './agents.ts';
import { arrangeDelivery } from './delivery.ts';
import { arrangeForges } from './forges.ts';
import { arrangeIdentityProviders } from './identity-providers.ts';
import { arrangeImport } from './imports.ts';
import { arrangeInvitations } from './invitations.ts';
import { arrangeLocks } from './locks.ts';
import { arrangePlan } from './plans.ts';
import { arrangeExport } from './exports.ts';
import { arrangeView } from './views.ts';
import { arrangeAgreements } from './agreements.ts';
import { arrangeReviews } from './review.ts';
import { arrangeOtherProjects, arrangeWebProject, type Visibility } from './projects.ts';
import { arrangeSignals } from './signals.ts';
import { arrangeConnections } from './connections.ts';
import { arrangeSessions } from './sessions.ts';
import { arrangeTokens } from './tokens.ts';
import { arrangeUsage } from './usage.ts';
import { arrangeWebhooks } from './webhooks.ts';

export { exampleIds } from './projects.ts';

/** The records of one organization by kind, for specs that refer to one. */
export interface ExampleRecordIds {
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
  readonly export: string;
  readonly plan: string;
  readonly view: string;
  readonly attachment: string;
  readonly webhook: string;
  readonly webhookDelivery: string;
  readonly budget: string;
}

export interface ExampleOrg<Handlers = object> extends People<Handlers> {
  readonly records: ExampleRecordIds;
  /** People whose only role in WEB is the one of their name, if WEB is private. */
  readonly lead: Person<Handlers>;
  readonly contributor: Person<Handlers>;
  readonly looker: Person<Handlers>;
  /** Ana's token, whose only scope is platform. */
  readonly operator: Person<Handlers>;
  /** A member without a role in WEB, if WEB is private. */
  readonly outsider: Person<Handlers>;
}

interface ExampleOrgSetUp {
  readonly visibility?: Visibility;
  /** Uses the ids in the contract's examples, or new ids, which a second organization needs. */
  readonly ids?: 'examples' | 'fresh';
  /**
   * Gives the organization a slug of its own. Only one organization at a time can have the examples' slug.
   */
  readonly slug?: 'own';
}

export const createExampleOrg = <Handlers>(
  world: World<Handlers>,
  setUp: ExampleOrgSetUp = {},
): Promise<ExampleOrg<Handlers>> => world.batchStatements((makers) => makeExampleOrg(makers, setUp));

async function makeExampleOrg<Handlers>(
  world: Makers<Handlers>,
  { visibility = 'private', ids = 'examples', slug: wanted }: ExampleOrgSetUp,
): Promise<ExampleOrg<Handlers>> {
  const people = await world.org();
  const { orgId, ana, robo } = people;
  const idOf = (example: string): string => (ids === 'examples' ? example : newId());
  const slug = ids === 'examples' && wanted !== 'own' ? 'acme' : people.slug;
  if (slug !== people.slug) await assignSlug(world, orgId, slug);
  const { team } = await arrangePeople(world, { orgId, anaId: ana.me.memberId, idOf });
  const author = JSON.stringify({
    kind: 'member',
    memberId: ana.me.memberId,
    agentId: null,
    name: ana.me.name,
  });

  const web = await arrangeWebProject(world, { orgId, ana, visibility, author, idOf });
  const { project, column, epic, stories, comment } = web;
  const others = await arrangeRecords(world, { orgId, ana, projectId: project, stories, author, idOf });
  const { memberId, agentId } = people.robo.me;
  const { budget } = await arrangeUsage(world, {
    ...{ orgId, projectId: project, stories, author, idOf },
    ...{ memberId, agentId: agentId ?? '' },
  });
  const { docs } = await arrangeOtherProjects(world, { orgId, visibility, idOf });
  const inProjects = await arrangeRoles(world, people, { web: project, docs });
  return {
    ...people,
    slug,
    ...inProjects,
    operator: await world.token(orgId, ana.me.memberId, { scopes: ['platform'] }),
    records: {
      project,
      column,
      epic,
      story: stories[0] ?? '',
      comment,
      member: ana.me.memberId,
      team,
      agent: robo.me.agentId ?? '',
      budget,
      ...others,
    },
  };
}

interface ExampleContext {
  readonly orgId: string;
  readonly ana: Person;
  /** The id of WEB. */
  readonly projectId: string;
  /** The ids of WEB-1 and WEB-2. */
  readonly stories: readonly string[];
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the other records, except for people and boards, domain by domain. */
async function arrangeRecords(
  world: Makers,
  place: ExampleContext,
): Promise<
  Omit<
    ExampleRecordIds,
    'project' | 'column' | 'epic' | 'story' | 'comment' | 'member' | 'team' | 'agent' | 'budget'
  >
> {
  const { ana, stories } = place;
  await arrangeAgreements(world, { ...place, storyId: stories[0] });
  await arrangeReviews(world, { ...place, anaId: ana.me.memberId });
  const { notification } = await arrangeSignals(world, place);
  const { invitation } = await arrangeInvitations(world, place);
  const { execution, group } = await arrangeDelivery(world, { ...place, storyId: stories[1] ?? '' });
  const { catalogAgent } = await arrangeCatalog(world, place);
  const { forgeConnection, forgeDelivery } = await arrangeForges(world, place);
  const { identityProvider } = await arrangeIdentityProviders(world, place);
  const { lock } = await arrangeLocks(world, place);
  const { accessRequest } = await arrangeAccess(world, place);
  const imported = await arrangeImport(world, place);
  const plan = await arrangePlan(world, { ...place, storyId: stories[0] ?? '' });
  const view = await arrangeView(world, { ...place, ownerId: ana.me.memberId });
  const attachment = await arrangeAttachment(world, {
    ...place,
    storyId: stories[0] ?? '',
    memberId: ana.me.memberId,
  });
  const dataExport = await arrangeExport(world, { ...place, memberId: ana.me.memberId });
  const { token, agent: agentId } = await arrangeTokens(world, place);
  const { connection } = await arrangeConnections(world, { ...place, agentId });
  const { session, passkey } = await arrangeSessions(world, place);
  const { webhook, webhookDelivery } = await arrangeWebhooks(world, place);
  return {
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
    export: dataExport,
    plan,
    view,
    attachment,
    webhook,
    webhookDelivery,
  };
}

/** Inserts people with one role each in WEB and in DOCS, or with none. Chloé contributes to WEB. */
async function arrangeRoles<Handlers>(
  world: Makers<Handlers>,
  { orgId, chloe }: People<Handlers>,
  { web, docs }: { readonly web: string; readonly docs: string },
): Promise<Pick<ExampleOrg<Handlers>, 'lead' | 'contributor' | 'looker' | 'outsider'>> {
  const withRole = async (name: string, role: string | null): Promise<Person<Handlers>> => {
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
    chloe.me.memberId,
  );
  return {
    lead: await withRole('Lea', 'lead'),
    contributor: await withRole('Carl', 'contributor'),
    looker: await withRole('Vera', 'viewer'),
    outsider: await withRole('Olaf', null),
  };
}
