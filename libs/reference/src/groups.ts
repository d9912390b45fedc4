/** The purpose of each namespace, in the groups that the documentation shows. */

export interface NamespaceGroup {
  readonly title: string;
  /** The namespaces, each with a sentence about it. */
  readonly namespaces: Readonly<Record<string, string>>;
}

export const namespaceGroups: readonly NamespaceGroup[] = [
  {
    title: 'The board',
    namespaces: {
      stories: 'The work items of the board: create, move and order stories.',
      epics: 'Goals that group several stories.',
      boardColumns: 'The columns of a board and their limits.',
      projects: 'Projects, their boards, and the teams that work on them.',
      'projects.members': 'The roles of members in a project.',
      'projects.teams': 'The roles of teams in a project.',
      'projects.accessRequests': 'Requests for a role in a project, and decisions about them.',
      assignments: 'Who is responsible for which work.',
      search: 'Full-text search for stories, epics, specs, comments and members.',
      plans: 'Stories that are described together with their order, and updated together.',
      views: 'Saved views: a layout of stories with filters, an order and groups.',
      imports: 'Import from other trackers: repeatable, and it can be undone.',
      exports: 'Archives of an organization, of a project or of your own data.',
    },
  },
  {
    title: 'Specs and review',
    namespaces: {
      storySpec: 'The written spec of a story, with all its versions.',
      comments: 'Comments, questions and decisions, in threads, on stories and lines of specs.',
      attachments: 'Files on stories, comments and executions, such as screenshots and test reports.',
      changes: 'The code of work: its changed files and their patches.',
      reviewers: 'Who reviews a story, and their verdicts.',
      storyCollaboration: 'Everything needed to begin work on a story, in one response.',
      contracts: 'Interfaces that stories agree on, with versions.',
      'prompts.org': 'Instructions for agents in the whole organization.',
      'prompts.project': 'Instructions for agents in one project.',
    },
  },
  {
    title: 'Delivery',
    namespaces: {
      deliveryExecutions: 'Leases on work: acquire a story, renew, write checkpoints, hand off, complete.',
      deliveryGroups: 'Stories that are delivered together.',
      locks: 'Locks on paths and names, so that two workers do not change the same files.',
      agents: 'Your agents, and their runs.',
      'agents.runs': 'What agents did: runs, their steps and their logs.',
      'agents.catalog': 'Agents that are published for others, with versions.',
      usage: 'Tokens and costs of runs.',
      'usage.prices': 'Prices of models, for runs that report tokens without a cost.',
      budgets: 'Limits for the costs of agents.',
      forges: 'Connections to GitHub, GitLab, Gitea and Forgejo.',
      'forges.repositories': 'The link between repositories and projects.',
      'forges.deliveries': 'Webhook deliveries from forges, and their results.',
    },
  },
  {
    title: 'Events and messages',
    namespaces: {
      events: 'A stream of events that can be followed from any position.',
      activity: 'Recent activity in words, for people to read.',
      notifications: 'Notifications of a member, and the channels they use.',
      broadcasts: 'One message to many people.',
      webhooks: 'Events sent to your own address, signed and retried until delivered.',
      'webhooks.deliveries': 'Attempts to deliver events to a webhook, with the responses.',
      audit: 'A record of who did what, for admins.',
    },
  },
  {
    title: 'People and access',
    namespaces: {
      session: 'The identity and permissions of the current token.',
      sessions: 'The browsers in which you are signed in.',
      tokens: 'Tokens for programs and agents.',
      connections: 'Programs that you authorized by signing in, and their permissions.',
      passkeys: 'Passkeys, with which your devices sign you in.',
      members: 'The members of the organization.',
      invitations: 'Open invitations to the organization.',
      teams: 'Teams, which have roles in projects.',
      'teams.members': 'The members of a team.',
      'teams.projects': 'The projects of a team.',
      devices: 'Phones, browsers and chat channels that receive push notifications.',
    },
  },
  {
    title: 'Organization',
    namespaces: {
      orgs: 'The organization itself: its name, its owner, its deletion.',
      identityProviders: 'OpenID Connect issuers, such as Okta or Entra, by which people sign in.',
      policy: 'The rules that an organization sets for its work.',
      billing: 'Seats: their price, their use, and buying more.',
      gamification: 'Points for completed work.',
      'admin.platform': 'The whole installation, for its operators.',
    },
  },
];

const descriptionByNamespace = new Map(
  namespaceGroups.flatMap(({ namespaces }) => Object.entries(namespaces)),
);

/** Returns the sentence of a namespace. Throws if no group has it. */
export function namespaceDescriptionOf(namespace: string): string {
  const sentence = descriptionByNamespace.get(namespace);
  if (sentence === undefined) throw new Error(`no group contains the namespace ${namespace}`);
  return sentence;
}
