/** Handles a person's consent, for clients in a browser and for devices. */
import { newId, type Pool } from '@muster/driver';
import { type FormFields } from '@muster/http';
import { inSignInTransaction } from '@muster/placement';
import { scopeCovers } from '@muster/contract';
import { type FastifyRequest } from 'fastify';
import { type Provider } from 'oidc-provider';
import { listOrganizations, type AccountOrganization } from '../data/accounts.ts';
import { findSession, type BrowserSession } from '../data/sessions.ts';
import { browserFactsOf, type SignInCookies } from '../http/requests.ts';
import {
  type RequestingClient,
  connectionLifetimeDays,
  type ConsentFacts,
  consentPage,
  organizationPage,
} from '../pages/consent.ts';
import { type HtmlPage } from '../pages/layout.ts';
import { failurePage } from '../pages/pages.ts';
import { vouchingHostOf } from './clients.ts';
import { type NewConnection, openConnection, type ConnectionRefusal } from './connections.ts';
import { type PersonApi, ApiRefusedError } from './own-calls.ts';
import { clientScopes } from './provider.ts';
import { registrationLifetimeDays } from './records.ts';
import { extendRegistration } from './rows.ts';

/** A client's request that waits for a person's consent. */
export interface ConsentRequest {
  readonly clientId: string;
  readonly client: RequestingClient;
  /** The resource URL that the client sent. */
  readonly resource: string;
  /** The resource of this server that the URL in `resource` refers to. */
  readonly audience: string;
  /** The requested scopes; empty for the default ones. */
  readonly scopes: readonly string[];
  /** The URL to which forms are sent, and the hidden fields that each of them contains. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

export interface ConsentGrant {
  readonly accountId: string;
  readonly grantId: string;
  readonly scope: string;
}

/** The result: a page to show, a URL to redirect to, a refusal by the person, or a grant. */
export type ConsentResult =
  | { readonly page: HtmlPage }
  | { readonly goTo: string }
  | { readonly refused: true }
  | { readonly granted: ConsentGrant };

export interface ConsentDependencies {
  readonly pool: Pool;
  readonly cookies: SignInCookies;
  readonly calls: PersonApi;
  readonly provider: Provider;
}

type ClientScope = (typeof clientScopes)[number];
const defaultScopes: readonly ClientScope[] = ['read', 'write'];

/**
 * The requested scopes that can be granted, the widest last. `admin` needs the role, and is never granted to
 * a device code: anyone can send such a code to an owner.
 */
function grantableScopes(
  { scopes, client }: ConsentRequest,
  role: AccountOrganization['role'],
): ClientScope[] {
  const wanted = clientScopes.filter((scope) => scopes.includes(scope));
  const requested = wanted.length === 0 ? defaultScopes : wanted;
  const mayAdminister = client.device === null && (role === 'owner' || role === 'admin');
  return clientScopes.filter(
    (scope) => scopeCovers(requested, scope) && (scope !== 'admin' || mayAdminister),
  );
}

const refusalMessages: Readonly<Record<ConnectionRefusal, string>> = {
  member: 'You’re no longer a member of this organization.',
  agent: 'This agent is retired or belongs to someone else. Choose another one.',
  role: 'Your role doesn’t allow this access. Choose less access.',
  projects: 'One of these projects was deleted, or you no longer have access to it.',
  limit: 'You already have 100 connections. Disconnect one that you no longer need.',
};

/** Returns the URL of the page, or of the page that contained the submitted form. */
const returnUrlOf = ({ method, url }: FastifyRequest): string =>
  encodeURIComponent(method === 'GET' ? url : (url.split('?')[0] ?? '/'));

/** Returns the session of a recently authenticated person, or the sign-in URL to redirect to. */
export async function requireRecentSession(
  { pool, cookies }: Pick<ConsentDependencies, 'pool' | 'cookies'>,
  request: FastifyRequest,
): Promise<BrowserSession | { readonly goTo: string }> {
  const session = await inSignInTransaction(pool, (db) => findSession(db, cookies.read(request, 'session')));
  const to = returnUrlOf(request);
  if (session === undefined) return { goTo: `/sign-in?to=${to}` };
  // Require a recent authentication, as for creating tokens.
  return session.isRecentlyProven ? session : { goTo: `/sign-in?again&to=${to}` };
}

/** The choices of a person in one organization. */
type ConsentChoices = Pick<ConsentFacts, 'organization' | 'hasOthers' | 'agents' | 'projects' | 'scopes'>;

/** A response other than the consent page. */
type AlternativeResponse = { readonly page: HtmlPage } | { readonly goTo: string };

const cannotConnectPage = (text: string): HtmlPage => failurePage('Can’t connect', text, 403);

/** Returns the organization to connect to; or a page, if the person must choose one or belongs to none. */
async function chooseOrganization(
  pool: Pool,
  accountId: string,
  consentRequest: ConsentRequest,
  organizationId: string | undefined,
): Promise<Pick<ConsentChoices, 'organization' | 'hasOthers'> | AlternativeResponse> {
  const organizations = await inSignInTransaction(pool, (db) => listOrganizations(db, accountId));
  const [only] = organizations;
  if (only === undefined)
    return {
      page: cannotConnectPage(
        'You’re not in an organization yet. Ask an admin to invite your e-mail address.',
      ),
    };
  // If the submitted form names an organization that the person has left since, do not use another
  // organization instead.
  const wanted = organizationId ?? (organizations.length === 1 ? only.id : undefined);
  const organization = organizations.find(({ id }) => id === wanted);
  if (organization === undefined)
    return { page: organizationPage(consentRequest.client, consentRequest, organizations) };
  return { organization, hasOthers: organizations.length > 1 };
}

/** Returns the person's agents and projects in the organization; or a page, if the API refuses. */
async function findChoices(
  calls: PersonApi,
  request: FastifyRequest,
  { id, memberId }: AccountOrganization,
): Promise<Pick<ConsentChoices, 'agents' | 'projects'> | AlternativeResponse> {
  try {
    const [agents, projects] = await Promise.all([
      calls.listAgents(request, id, memberId),
      calls.listProjects(request, id),
    ]);
    return { agents, projects };
  } catch (error) {
    if (!(error instanceof ApiRefusedError)) throw error;
    if (error.proofPath !== null) return { goTo: `${error.proofPath}&to=${returnUrlOf(request)}` };
    return { page: cannotConnectPage(error.message) };
  }
}

/** Returns the submitted terms, or a message about a missing choice. */
function parseTerms(
  form: FormFields,
  { scopes, projects }: ConsentChoices,
): Pick<NewConnection, 'scopes' | 'projectIds' | 'days'> | string {
  const grantedScope = scopes.find((scope) => scope === form['scope']);
  const days = connectionLifetimeDays.find((one) => String(one) === form['days']);
  if (grantedScope === undefined || days === undefined) return 'Choose the access and when it expires.';
  if (form['in'] !== 'some' && form['in'] !== 'all') return 'Choose the projects it can access.';
  const isBound = form['in'] === 'some';
  const chosen = projects.filter(({ id }) => form[`project-${id}`] !== undefined).map(({ id }) => id);
  if (isBound && chosen.length === 0) return 'Select at least one project, or choose all projects.';
  return {
    scopes: clientScopes.slice(0, clientScopes.indexOf(grantedScope) + 1),
    projectIds: isBound ? chosen : null,
    days,
  };
}

/** Creates the connection and the grant for its client, or returns the reason for a refusal. */
async function createConnectionAndGrant(
  { pool, provider }: ConsentDependencies,
  request: FastifyRequest,
  consentRequest: ConsentRequest,
  newConnection: Omit<NewConnection, 'id' | 'client' | 'resource'>,
): Promise<ConsentGrant | ConnectionRefusal> {
  const { accountId, scopes, days } = newConnection;
  const grantId = newId();
  const why = await inSignInTransaction(pool, async (db) => {
    await extendRegistration(db, consentRequest.clientId, days + registrationLifetimeDays.afterwards);
    const connection = {
      ...{ ...newConnection, id: grantId, resource: consentRequest.audience },
      client: {
        id: consentRequest.clientId,
        name: consentRequest.client.name,
        host: vouchingHostOf(consentRequest.clientId),
      },
    };
    return openConnection(db, connection, { requestId: request.id, ...browserFactsOf(request) });
  });
  if (why !== null) return why;
  const granted = { accountId, grantId, scope: scopes.join(' ') };
  await saveGrant(provider, consentRequest, granted, days);
  return granted;
}

/** Handles a submitted form. Shows the consent page if the form does not contain the person's answer yet. */
export async function handleConsent(
  parts: ConsentDependencies,
  request: FastifyRequest,
  consentRequest: ConsentRequest,
  form: FormFields,
): Promise<ConsentResult> {
  const { pool, calls } = parts;
  const session = await requireRecentSession(parts, request);
  if ('goTo' in session) return session;
  const { answer, org } = form;
  if (answer === 'refuse') return { refused: true };
  const found = await chooseOrganization(pool, session.account.id, consentRequest, org);
  if (!('organization' in found)) return found;
  const { organization } = found;
  const choices = await findChoices(calls, request, organization);
  if (!('agents' in choices)) return choices;
  const offer: ConsentChoices = {
    ...found,
    ...choices,
    scopes: grantableScopes(consentRequest, organization.role),
  };
  const show = (problem: string | null): ConsentResult => {
    const { client, action, hidden } = consentRequest;
    const typed = answer === 'connect' ? form : {};
    return { page: consentPage({ ...offer, client, action, hidden, submittedFields: typed, problem }) };
  };
  if (answer !== 'connect') return show(null);

  const terms = parseTerms(form, offer);
  if (typeof terms === 'string') return show(terms);
  try {
    const agent =
      form['agent'] === 'new'
        ? await calls.createAgent(request, organization.id, (form['agentName'] ?? '').trim())
        : offer.agents.find(({ id }) => id === form['agent']);
    if (agent === undefined) return show(refusalMessages.agent);
    const granted = await createConnectionAndGrant(parts, request, consentRequest, {
      ...{ accountId: session.account.id, orgId: organization.id, agentId: agent.id },
      ...terms,
    });
    return typeof granted === 'string' ? show(refusalMessages[granted]) : { granted };
  } catch (error) {
    // The person can correct the form if the agent's name is taken or invalid, or if their role may not
    // create agents.
    if (error instanceof ApiRefusedError) return show(error.message);
    throw error;
  }
}

async function saveGrant(
  provider: Provider,
  { clientId, resource }: ConsentRequest,
  { accountId, grantId, scope }: ConsentGrant,
  days: number,
): Promise<void> {
  const grant = new provider.Grant({ accountId, clientId });
  grant.addResourceScope(resource, scope);
  grant.addOIDCScope('offline_access');
  await Object.assign(grant, { jti: grantId, exp: Math.floor(Date.now() / 1_000) + days * 86_400 }).save();
}
