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
      stories: 'What there is to do: create stories, move them along, put them in order.',
      epics: 'Goals that several stories serve.',
      boardColumns: 'The columns of a board, with their limits.',
      projects: 'A project with its board, and which teams work on it.',
      'projects.members': 'Which roles members have in a project.',
      'projects.teams': 'Which teams have a role in a project.',
      'projects.accessRequests': 'Requests for a role in a project, and their decisions.',
      assignments: 'Who is to do what.',
      search: 'Find stories, epics, specs, comments and members by words.',
      imports: 'Bring work in from another tracker, again and again, and take it back.',
    },
  },
  {
    title: 'Specs and review',
    namespaces: {
      storySpec: 'The written spec of a story, with all of its versions.',
      comments: 'Comments, questions and decisions, in threads, on stories and lines of specs.',
      reviewers: 'Who reviews a story, and their verdicts.',
      storyCollaboration: 'All that is needed to begin work on a story, in one answer.',
      contracts: 'Interfaces that stories agree on, in versions.',
      'prompts.org': 'What agents are told in the whole organization.',
      'prompts.project': 'What agents are told in one project.',
    },
  },
  {
    title: 'Delivery',
    namespaces: {
      deliveryExecutions: 'Leases on work: take a story, renew, write checkpoints, hand over, complete.',
      deliveryGroups: 'Stories that are delivered together.',
      locks: 'Locks on paths and names, so that two workers do not change the same files.',
      agents: 'Your agents, and their runs.',
      'agents.catalog': 'Agents that are published for others, in versions.',
      forges: 'Connections to GitHub, GitLab, Gitea and Forgejo.',
      'forges.repositories': 'Which repositories have the work of a project.',
      'forges.deliveries': 'What a forge delivered, and what became of it.',
    },
  },
  {
    title: 'Events and messages',
    namespaces: {
      events: 'Follow what happens as it happens, from any place in the stream.',
      activity: 'What happened, for people to read.',
      notifications: 'What a member was told, and over which channels.',
      broadcasts: 'One message to many people.',
      webhooks: 'Events sent to an address of yours, signed and never lost.',
      'webhooks.deliveries': 'What a webhook sent, and what was answered.',
      audit: 'Who did what, for admins.',
    },
  },
  {
    title: 'People and access',
    namespaces: {
      session: 'Who the token is, and what it may do.',
      sessions: 'The browsers in which you are signed in.',
      tokens: 'Tokens for programs and agents.',
      connections: 'Programs that you let in by signing in, and what they may do.',
      passkeys: 'What your devices prove with who you are.',
      members: 'The members of the organization.',
      invitations: 'Invitations that are under way.',
      teams: 'Teams, which have roles in projects.',
      'teams.members': 'Who is in a team.',
      'teams.projects': 'What a team works on.',
      devices: 'Phones and browsers that get push messages.',
    },
  },
  {
    title: 'Organization',
    namespaces: {
      orgs: 'The organization itself: its name, its owner, its end.',
      identityProviders: 'Issuers of OpenID Connect, such as Okta or Entra, by which people sign in.',
      policy: 'The rules that an organization sets for its work.',
      billing: 'Seats: what they cost, how many are used, and buying more.',
      gamification: 'Points for work that is done.',
      'admin.platform': 'The whole installation, for those who run it.',
    },
  },
];

const sentences = new Map(namespaceGroups.flatMap(({ namespaces }) => Object.entries(namespaces)));

/** Returns the sentence of a namespace. Throws if no group has it. */
export function sentenceOf(namespace: string): string {
  const sentence = sentences.get(namespace);
  if (sentence === undefined) throw new Error(`no group has the namespace ${namespace}`);
  return sentence;
}
