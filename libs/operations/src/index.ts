/** The whole product on one page: who handles each operation, and what follows from events. One that is missing does not compile. */
import { billingHandlers, defaultSeatPrices, platformHandlers, type SeatPrices } from '@muster/billing';
import { boardHandlers } from '@muster/board';
import { deliveryHandlers, executionReactions, insideHandlers, runReactions } from '@muster/delivery';
import { gamificationHandlers } from '@muster/gamification';
import { organizationsHandlers } from '@muster/organizations';
import { type AllHandlers, byOperation, type Handler, type Reaction } from '@muster/runtime';
import { notify, notificationsHandlers } from '@muster/notifications';

/** What is set for the whole installation. */
export interface HandlersSetUp {
  readonly seatPrices: SeatPrices;
}

export const handlersOf = ({ seatPrices }: HandlersSetUp): AllHandlers => ({
  session: organizationsHandlers.session,
  orgs: organizationsHandlers.orgs,
  members: organizationsHandlers.members,
  invitations: organizationsHandlers.invitations,
  policy: organizationsHandlers.policy,
  teams: { ...organizationsHandlers.teams, projects: boardHandlers.teamProjects },
  devices: organizationsHandlers.devices,
  projects: boardHandlers.projects,
  boardColumns: boardHandlers.boardColumns,
  epics: boardHandlers.epics,
  stories: boardHandlers.stories,
  storySpec: boardHandlers.storySpec,
  storyCollaboration: boardHandlers.storyCollaboration,
  comments: boardHandlers.comments,
  assignments: boardHandlers.assignments,
  reviewers: boardHandlers.reviewers,
  deliveryExecutions: deliveryHandlers.deliveryExecutions,
  agents: deliveryHandlers.agents,
  deliveryGroups: deliveryHandlers.deliveryGroups,
  locks: deliveryHandlers.locks,
  prompts: boardHandlers.prompts,
  contracts: boardHandlers.contracts,
  activity: notificationsHandlers.activity,
  events: notificationsHandlers.events,
  audit: notificationsHandlers.audit,
  broadcasts: notificationsHandlers.broadcasts,
  notifications: notificationsHandlers.notifications,
  gamification: gamificationHandlers.gamification,
  billing: billingHandlers(seatPrices).billing,
  admin: platformHandlers.admin,
});

/** With what an installation has that sets nothing. */
export const handlers = handlersOf({ seatPrices: defaultSeatPrices });

/** What follows from events, in the transaction in which they happened. */
export const reactions: readonly Reaction[] = [runReactions, executionReactions, notify];

/** What handlers may perform: the whole API, and what only they may ask of one another. */
export const performable = (all: AllHandlers): ReadonlyMap<string, Handler> =>
  byOperation({ ...all, insideHandlers });
