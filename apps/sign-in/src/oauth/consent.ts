/** What a person says to a client that asks: the same for one that waits in a browser and for a device. */
import { newId, type Pool } from '@muster/driver';
import { type Form } from '@muster/http';
import { inSignIn } from '@muster/placement';
import { type GivenScope, scopeCovers } from '@muster/registry';
import { type FastifyRequest } from 'fastify';
import { type Provider } from 'oidc-provider';
import { listOrganizations, type OwnOrganization } from '../data/accounts.ts';
import { findSession, type Session } from '../data/sessions.ts';
import { browserOf, type Cookies } from '../http/requests.ts';
import {
  type AskingClient,
  connectionDays,
  type ConsentFacts,
  consentPage,
  organizationPage,
} from '../pages/consent.ts';
import { type Page } from '../pages/layout.ts';
import { refusedPage } from '../pages/pages.ts';
import { hostOf } from './clients.ts';
import { type NewConnection, openConnection, type Unconnected } from './connections.ts';
import { type OwnCalls, Refused } from './own-calls.ts';
import { clientScopes } from './provider.ts';
import { registrationDays } from './records.ts';
import { keepRegistration } from './rows.ts';

/** A client's request that waits for an answer. */
export interface Asked {
  readonly clientId: string;
  readonly client: AskingClient;
  /** As the client names it. */
  readonly resource: string;
  /** Which of ours that is. */
  readonly audience: string;
  /** The scopes that it asks for; none: what is usual. */
  readonly scopes: readonly string[];
  /** The address that forms are sent to, and the fields that each of them carries. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

export interface Granted {
  readonly accountId: string;
  readonly grantId: string;
  readonly scope: string;
}

/** A page to be shown, a page to go to, the person's no, or what was granted. */
export type Answer =
  | { readonly page: Page }
  | { readonly goTo: string }
  | { readonly refused: true }
  | { readonly granted: Granted };

export interface ConsentParts {
  readonly pool: Pool;
  readonly cookies: Cookies;
  readonly calls: OwnCalls;
  readonly provider: Provider;
}

const usualScopes: readonly GivenScope[] = ['read', 'write'];

/**
 * The requested scopes that can be granted, the widest last. `admin` needs the role, and is never granted to a device code:
 * anyone can send such a code to an owner.
 */
function grantable({ scopes, client }: Asked, role: OwnOrganization['role']): GivenScope[] {
  const wanted = clientScopes.filter((scope) => scopes.includes(scope));
  const requested = wanted.length === 0 ? usualScopes : wanted;
  const mayAdminister = client.device === null && (role === 'owner' || role === 'admin');
  return clientScopes.filter(
    (scope) => scopeCovers(requested, scope) && (scope !== 'admin' || mayAdminister),
  );
}

const problems: Readonly<Record<Unconnected, string>> = {
  member: 'You are no member of this organization any more.',
  agent: 'This agent is retired, or not yours.',
  role: 'Your role does not allow that much.',
  projects: 'One of these projects is not there any more, or not for you to see.',
  limit: 'You have 100 connections already. End one that you do not need.',
};

/** Of a form, the page that it was on. */
const wayBack = ({ method, url }: FastifyRequest): string =>
  encodeURIComponent(method === 'GET' ? url : (url.split('?')[0] ?? '/'));

/** Who signed in lately enough to let a program in; else where to go first. */
export async function personOf(
  { pool, cookies }: Pick<ConsentParts, 'pool' | 'cookies'>,
  request: FastifyRequest,
): Promise<Session | { readonly goTo: string }> {
  const session = await inSignIn(pool, (db) => findSession(db, cookies.read(request, 'session')));
  const to = wayBack(request);
  if (session === undefined) return { goTo: `/sign-in?to=${to}` };
  // As for tokens, the proof has to be fresh.
  return session.isFresh ? session : { goTo: `/sign-in?again&to=${to}` };
}

/** What a person can choose of, in one organization. */
type Offer = Pick<ConsentFacts, 'organization' | 'hasOthers' | 'agents' | 'projects' | 'scopes'>;

/** Another page than the one on which a person chooses. */
type Detour = { readonly page: Page } | { readonly goTo: string };

const nothingPage = (text: string): Page => refusedPage('Nothing to connect to', text, 403);

/** The organization that is connected to; or a page, where the person has to name one or is in none. */
async function organizationOf(
  pool: Pool,
  accountId: string,
  asked: Asked,
  org: string | undefined,
): Promise<Pick<Offer, 'organization' | 'hasOthers'> | Detour> {
  const organizations = await inSignIn(pool, (db) => listOrganizations(db, accountId));
  const [only] = organizations;
  if (only === undefined)
    return {
      page: nothingPage('You are in no organization yet. An invitation to your address lets you into one.'),
    };
  // What was consented to for one that the person has left meanwhile holds for no other.
  const wanted = org ?? (organizations.length === 1 ? only.id : undefined);
  const organization = organizations.find(({ id }) => id === wanted);
  if (organization === undefined) return { page: organizationPage(asked.client, asked, organizations) };
  return { organization, hasOthers: organizations.length > 1 };
}

/** What the person has and sees there; or a page, where the API refuses to say. */
async function findChoices(
  calls: OwnCalls,
  request: FastifyRequest,
  { id, memberId }: OwnOrganization,
): Promise<Pick<Offer, 'agents' | 'projects'> | Detour> {
  try {
    const [agents, projects] = await Promise.all([
      calls.agents(request, id, memberId),
      calls.projects(request, id),
    ]);
    return { agents, projects };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.at !== null) return { goTo: `${error.at}&to=${wayBack(request)}` };
    return { page: nothingPage(error.message) };
  }
}

/** What the form says that the client may do; or what is missing in it, as its person reads it. */
function termsIn(
  form: Form,
  { scopes, projects }: Offer,
): Pick<NewConnection, 'scopes' | 'projectIds' | 'days'> | string {
  const most = scopes.find((scope) => scope === form['scope']);
  const days = connectionDays.find((one) => String(one) === form['days']);
  if (most === undefined || days === undefined) return 'Say what it may do, and for how long.';
  if (form['in'] !== 'some' && form['in'] !== 'all') return 'Choose the projects that it may work in.';
  const isBound = form['in'] === 'some';
  const chosen = projects.filter(({ id }) => form[`project-${id}`] !== undefined).map(({ id }) => id);
  if (isBound && chosen.length === 0) return 'Choose at least one project, or all of them.';
  return {
    scopes: clientScopes.slice(0, clientScopes.indexOf(most) + 1),
    projectIds: isBound ? chosen : null,
    days,
  };
}

/** Makes the connection, and the grant by which its client gets tokens; or answers why there is none. */
async function connect(
  { pool, provider }: ConsentParts,
  request: FastifyRequest,
  asked: Asked,
  made: Omit<NewConnection, 'id' | 'client' | 'resource'>,
): Promise<Granted | Unconnected> {
  const { accountId, scopes, days } = made;
  const grantId = newId();
  const why = await inSignIn(pool, async (db) => {
    await keepRegistration(db, asked.clientId, days + registrationDays.afterwards);
    const connection = {
      ...{ ...made, id: grantId, resource: asked.audience },
      client: { id: asked.clientId, name: asked.client.name, host: hostOf(asked.clientId) },
    };
    return openConnection(db, connection, { requestId: request.id, ...browserOf(request) });
  });
  if (why !== null) return why;
  const granted = { accountId, grantId, scope: scopes.join(' ') };
  await saveGrant(provider, asked, granted, days);
  return granted;
}

/** Handles a submitted form. Shows the consent page if the form does not contain the person's answer yet. */
export async function consent(
  parts: ConsentParts,
  request: FastifyRequest,
  asked: Asked,
  form: Form,
): Promise<Answer> {
  const { pool, calls } = parts;
  const session = await personOf(parts, request);
  if ('goTo' in session) return session;
  const { answer, org } = form;
  if (answer === 'refuse') return { refused: true };
  const found = await organizationOf(pool, session.account.id, asked, org);
  if (!('organization' in found)) return found;
  const { organization } = found;
  const choices = await findChoices(calls, request, organization);
  if (!('agents' in choices)) return choices;
  const offer: Offer = { ...found, ...choices, scopes: grantable(asked, organization.role) };
  const show = (problem: string | null): Answer => {
    const { client, action, hidden } = asked;
    const typed = answer === 'connect' ? form : {};
    return { page: consentPage({ ...offer, client, action, hidden, typed, problem }) };
  };
  if (answer !== 'connect') return show(null);

  const terms = termsIn(form, offer);
  if (typeof terms === 'string') return show(terms);
  try {
    const agent =
      form['agent'] === 'new'
        ? await calls.makeAgent(request, organization.id, (form['agentName'] ?? '').trim())
        : offer.agents.find(({ id }) => id === form['agent']);
    if (agent === undefined) return show(problems.agent);
    const granted = await connect(parts, request, asked, {
      ...{ accountId: session.account.id, orgId: organization.id, agentId: agent.id },
      ...terms,
    });
    return typeof granted === 'string' ? show(problems[granted]) : { granted };
  } catch (error) {
    // A name that is taken or does not fit, or a role that makes none: the person can do something about it.
    if (error instanceof Refused) return show(error.message);
    throw error;
  }
}

async function saveGrant(
  provider: Provider,
  { clientId, resource }: Asked,
  { accountId, grantId, scope }: Granted,
  days: number,
): Promise<void> {
  const grant = new provider.Grant({ accountId, clientId });
  grant.addResourceScope(resource, scope);
  grant.addOIDCScope('offline_access');
  await Object.assign(grant, { jti: grantId, exp: Math.floor(Date.now() / 1_000) + days * 86_400 }).save();
}
