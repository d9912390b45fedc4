/**
 * Calls every operation with every kind of token, over HTTP. The expected answer is derived here from the
 * contract of each operation, separately from the code that refuses calls. The member behind the tokens owns
 * the organization, so that no role is too low. One member and one viewer test the roles. The records of the
 * examples need not exist: an allowed call may fail, but never with a 401 or 403.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { grantPlatformAccess } from '@muster/organizations';
import { groundsOf, type Operation, type OrgRole, type ProjectRole, type Scope } from '@muster/contract';
import { operations } from '@muster/registry';
import {
  type ApiSite,
  asksToRetry,
  type Invoke,
  type CallReply,
  idIn,
  isServed,
  openApi,
  reasonOf,
} from '../callers.ts';
import { without } from '../guards.ts';
import { property, type RunProperty } from '../property.ts';

/** A kind of token, with the role of the member that it belongs to. */
interface Kind {
  readonly name: string;
  readonly role: Extract<OrgRole, 'owner' | 'member' | 'viewer'>;
  readonly scope: Exclude<Scope, 'scim'>;
  readonly isAgents: boolean;
  readonly readsInbox: boolean;
  readonly isBound: boolean;
}

const ofScopes = (
  name: string,
  more: Partial<Kind> = {},
  scopes: readonly Kind['scope'][] = ['read', 'write', 'admin'],
): Kind[] =>
  scopes.map((scope) => ({
    ...{ role: 'owner', isAgents: false, readsInbox: true, isBound: false },
    ...more,
    ...{ name: `${name}, ${scope}`, scope },
  }));

export const kinds: readonly Kind[] = [
  ...ofScopes('member'),
  ...ofScopes('agent', { isAgents: true, readsInbox: false }),
  ...ofScopes('agent with the inbox', { isAgents: true }),
  ...ofScopes('bound', { isBound: true }),
  ...ofScopes('bound agent', { isAgents: true, readsInbox: false, isBound: true }),
  ...ofScopes('platform', {}, ['platform']),
  ...ofScopes("a member's", { role: 'member' }, ['admin']),
  ...ofScopes("a viewer's", { role: 'viewer' }, ['admin']),
];

/**
 * Operations whose required rights depend on their parameters. A call that only an admin may make is not
 * limited to the projects of a bound token.
 */
const dependsOnParams = new Set(['broadcasts.send', 'views.create', 'views.update', 'views.delete']);
/**
 * Operations that remove the caller from the organization. Only the owner may be used to test them, because they
 * refuse the owner and would remove any other caller.
 */
const endsItsCaller = new Set(['members.leave']);

const isForLeads = ({ access }: Operation): boolean => groundsOf(access).includes('projectLead');

const smallest: readonly Scope[] = ['read', 'write', 'admin'];

/** Derives from the contract the reason for which this kind of token is refused; null if it is allowed. */
export function ruling(operation: Operation, kind: Kind, isAsAdmin: boolean): string | null {
  // The checks for agents come first, because an agent may not make these calls with any scope.
  if (kind.isAgents && operation.byMemberOnly) return 'agents_may_not';
  if (kind.isAgents && operation.readsInbox && !kind.readsInbox) return 'agents_may_not';
  const { access, effect } = operation;
  const isForAdmins = access.kind === 'org' && ['admin', 'owner'].includes(access.role);
  const needed = access.kind === 'platform' ? 'platform' : isForAdmins ? 'admin' : effect;
  if (needed === 'platform' || kind.scope === 'platform') {
    if (needed !== kind.scope) return 'scope';
  } else if (smallest.indexOf(kind.scope) < smallest.indexOf(needed)) return 'scope';
  if (kind.isBound && (!operation.takesBoundTokens || (isAsAdmin && dependsOnParams.has(operation.name))))
    return 'bound_token';
  if (access.kind === 'org') {
    const roles: readonly OrgRole[] = ['viewer', 'member', 'admin', 'owner'];
    if (roles.indexOf(kind.role) < roles.indexOf(access.role)) return 'role';
    // The member contributes to the project WEB, and leads nothing. Everyone is the author of their own records.
    const isForAuthors = groundsOf(access).some((ground) => ground === 'author');
    if (kind.role === 'member' && isForLeads(operation) && !isForAuthors) return 'role';
  }
  if (access.kind === 'project') {
    const roles: readonly ProjectRole[] = ['viewer', 'contributor', 'lead'];
    const held = { viewer: 'viewer', member: 'contributor', owner: 'lead' } as const;
    // The example attaches a file to a story; viewers may attach files to comments.
    const role = operation.name === 'attachments.create' ? 'contributor' : access.role;
    if (roles.indexOf(held[kind.role]) < roles.indexOf(role)) return 'role';
  }
  // The caller is allowed only because of the admin role, so the token needs the admin scope.
  if (isAsAdmin && kind.role === 'owner' && kind.scope !== 'admin') return 'scope';
  return null;
}

/** Records for calls that only the caller's admin role allows. */
interface Fixture {
  readonly teamId: string;
  readonly leadId: string;
  readonly strangerId: string;
  readonly slug: string;
  /** A webhook of the organization, and one of its deliveries. */
  readonly webhookId: string;
  readonly deliveryId: string;
  /** A shared view and a budget of the organization. */
  readonly viewId: string;
  readonly budgetId: string;
}

/** Returns the example with the ids of the stage in place of its own. */
const onStage = (stage: Fixture, example: object): object => ({
  ...example,
  ...Object.fromEntries(Object.entries(stage).filter(([name]) => name in example)),
});

const ofWebhooks = [...operations.keys()].filter((name) => /^webhooks\.(?!create$|list$)/.test(name));
const takesStage = ['agents.catalog.delete', 'views.update', 'views.delete', 'budgets.delete', ...ofWebhooks];
const asAdmin: Readonly<Record<string, (stage: Fixture, example: object) => object>> = {
  'teams.update': ({ teamId }) => ({ teamId, description: 'x' }),
  'teams.members.add': ({ teamId, strangerId }) => ({ teamId, memberId: strangerId }),
  'teams.members.setRole': ({ teamId, leadId }) => ({ teamId, memberId: leadId, role: 'lead' }),
  'teams.members.remove': ({ teamId, leadId }) => ({ teamId, memberId: leadId }),
  'broadcasts.send': () => ({ message: 'To everybody' }),
  'agents.catalog.publish': ({ slug }, example) => ({ ...example, slug, version: '2.0.0' }),
  'views.create': (_, example) => ({ ...example, projectId: null, shared: true }),
  'budgets.set': (_, example) => ({ ...example, scope: 'org', targetId: undefined }),
  'webhooks.create': (_, example) => ({ ...example, projectId: undefined }),
  ...{ 'exports.begin': () => ({ scope: 'org' }), 'webhooks.list': () => ({}) },
  ...Object.fromEntries(takesStage.map((name) => [name, onStage])),
};

/**
 * Creates a team that only `leadId` leads, a catalog agent that this member published, a webhook with a
 * delivery, a shared view and a budget.
 */
async function setStage(
  owner: Invoke,
  other: Invoke,
  who: Pick<Fixture, 'leadId' | 'strangerId'>,
  index: number,
): Promise<Fixture> {
  const slug = `stage-${index}`;
  const teamId = idIn(await owner('teams.create', { name: slug }), 'team');
  await owner('teams.members.add', { teamId, memberId: who.leadId, role: 'lead' });
  const publish = operations.get('agents.catalog.publish');
  const published = await other('agents.catalog.publish', { ...publish?.example, slug, version: '1.0.0' });
  if (!isServed(published)) throw new Error(`no stage: ${JSON.stringify(published.body)}`);
  const url = `https://hooks.acme.example/${slug}`;
  const webhookId = idIn(await owner('webhooks.create', { url, kinds: ['story.created'] }), 'webhook');
  const deliveryId = idIn(await owner('webhooks.test', { webhookId }), 'delivery');
  const viewId = idIn(await owner('views.create', { name: slug, layout: 'list', shared: true }), 'view');
  const budget = { scope: 'org', amountMicros: 1, period: 'day', action: 'notify' };
  const budgetId = idIn(await owner('budgets.set', budget), 'budget');
  return { teamId, ...who, slug, webhookId, deliveryId, viewId, budgetId };
}

/** Creates a token of the given kind. */
async function tokenOf({ database, slug, people, enter }: ApiSite, kind: Kind): Promise<string> {
  const [owner, , viewer = owner, member = owner] = people;
  const { email } = { owner, viewer, member }[kind.role];
  if (kind.scope === 'platform')
    return (await grantPlatformAccess(database.owner, { org: slug, member: email })).token;
  const { token } = await enter(email, {
    scopes: [kind.scope],
    ...(kind.isAgents && { agent: 'Scribe', inbox: kind.readsInbox }),
    ...(kind.isBound && { projects: ['WEB'] }),
  });
  return token;
}

/** The reasons that depend on the token and its member only, not on the record. */
const byToken = new Set(['scope', 'role', 'agents_may_not', 'bound_token']);

/** Describes a wrong answer; undefined if the answer is right. */
function violationIn(
  operation: Operation,
  kind: Kind,
  wanted: string | null,
  heard: CallReply,
): string | undefined {
  const reason = reasonOf(heard);
  // A refusal that depends on the record's owner says nothing about the token.
  const isForbidden = heard.status === 401 || (heard.status === 403 && byToken.has(reason ?? ''));
  const isRight =
    wanted === null
      ? !isForbidden && heard.status > 0 && heard.status < 500
      : heard.status === 403 && reason === wanted;
  // If the record does not exist, no role in its project can be checked, so the answer is a 404.
  const isInProject = operation.access.kind === 'project' || isForLeads(operation);
  const isNowhere = wanted === 'role' && isInProject && heard.status === 404;
  if (isRight || isNowhere) return undefined;
  return `${operation.name} with a token of ${kind.name}: ${wanted ?? 'is allowed'} by the contract, answered ${heard.status} ${reason ?? ''}`;
}

const atOnce = 6;
const maxRetries = 5;

interface Extent {
  readonly kinds: readonly Kind[];
  /** Returns true if the given kind of token is tried with the operation. By default all kinds are tried. */
  readonly isTried?: (operation: Operation, kind: Kind) => boolean;
  /** Returns true if the run may stop. By default it never stops early. */
  readonly isEnded?: (violations: readonly string[]) => boolean;
}

const paramsOf = (operation: Operation, kind: Kind) =>
  kind.role === 'owner' ? asAdmin[operation.name] : undefined;

/**
 * Selects one kind per operation among those for which the contract has equal answers. The choice rotates
 * over the operations, so that the short run still tries every kind and every answer.
 */
function byTurns(): Extent {
  const tried = new Map<Operation, ReadonlySet<Kind>>();
  for (const [index, operation] of [...operations.values()].entries()) {
    const alike = Map.groupBy(kinds, (kind) =>
      [ruling(operation, kind, paramsOf(operation, kind) !== undefined), kind.role].join(),
    );
    tried.set(operation, new Set([...alike.values()].flatMap((group) => group[index % group.length] ?? [])));
  }
  return { kinds, isTried: (operation, kind) => tried.get(operation)?.has(kind) === true };
}

/** Handles each item once, several at a time. */
async function inTurns<Item>(items: readonly Item[], doOne: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items];
  const turn = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await doOne(item);
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
}

const run: RunProperty<Extent> = async (
  { note, services },
  { kinds: tried, isTried = () => true, isEnded = () => false },
  removals,
) => {
  const site = await openApi(services, { people: 4, viewers: [2], removals });
  const [owner, other, , stranger] = site.people;
  if (other === undefined || stranger === undefined) throw new Error('nobody is there');
  const as =
    (token: string): Invoke =>
    async (operation, params) => {
      const call = site.as(token);
      let heard = await call(operation, params);
      // Concurrent calls wait for each other, on a busy machine longer than the API allows. The resulting 503
      // says nothing about rights, so the call is retried.
      for (let again = 0; asksToRetry(heard) && again < maxRetries; again += 1) {
        await pause(Number(heard.retryAfter) * 1_000);
        heard = await call(operation, params);
      }
      return heard;
    };
  const who = { leadId: other.memberId, strangerId: stranger.memberId };
  await as(owner.token)('projects.create', { key: 'WEB', name: 'Web' });

  const all = [...operations.values()];
  const violations = all
    .filter(({ access, name }) => groundsOf(access).includes('admin') && asAdmin[name] === undefined)
    .map(({ name }) => `${name} is never tried by one who is an admin and nothing else`);
  const answers = { calls: 0, refused: 0 };
  for (const [index, kind] of tried.entries()) {
    const call = as(await tokenOf(site, kind));
    const stage = await setStage(as(owner.token), as(other.token), who, index);
    note(kind.name);
    const asked = all
      .filter(({ name }) => kind.role === 'owner' || !endsItsCaller.has(name))
      .filter((operation) => isTried(operation, kind));
    await inTurns(asked, async (operation) => {
      if (isEnded(violations)) return;
      const staged = paramsOf(operation, kind);
      const params = staged?.(stage, operation.example) ?? operation.example;
      const wanted = ruling(operation, kind, staged !== undefined);
      const violation = violationIn(operation, kind, wanted, await call(operation.name, params));
      answers.calls += 1;
      if (wanted !== null) answers.refused += 1;
      if (violation !== undefined) violations.push(violation);
    });
  }
  return { violations, figures: { 'kinds of token': tried.length, operations: all.length, ...answers } };
};

/** The extent of a control: one kind of token, until the first violation. */
const until = (kindName: string): Extent => ({
  kinds: kinds.filter(({ name }) => name === kindName),
  isEnded: ({ length }) => length > 0,
});

export const authority = property<Extent>({
  name: 'authority',
  promise:
    'Over HTTP each kind of token may do exactly what the contract says of each operation: no more, and no less.',
  short: byTurns(),
  long: { kinds },
  run,
  controls: [
    {
      name: 'the kind of token is not checked',
      leftTo: 'nx long',
      extent: until('bound, admin'),
      without: [without('what a bound token may not')],
    },
    {
      name: "an admin's role holds in any scope",
      leftTo: 'nx long',
      extent: until('member, write'),
      without: [without('the scope of an admin', 'if (mayBeAdmin) return;')],
    },
    {
      name: 'an agent counts as its member',
      leftTo: 'nx long',
      extent: until('agent, write'),
      without: [without('an agent is not its member', 'const isAgents = false;')],
    },
  ],
});
