/** The whole API on one page: who handles each operation. One that is missing does not compile. */
import { billingHandlers, defaultSeatPrices, platformHandlers, type SeatPrices } from '@muster/billing';
import { boardHandlers } from '@muster/board';
import { deliveryHandlers, executionReactions, insideHandlers, runReactions } from '@muster/delivery';
import { gamificationHandlers } from '@muster/gamification';
import { peopleHandlers } from '@muster/people';
import { isOperation } from '@muster/registry';
import { type AllHandlers, type Handler, type Reaction } from '@muster/runtime';
import { notify, signalsHandlers } from '@muster/signals';

/** What is set for the whole installation. */
export interface HandlersSetUp {
  readonly seatPrices: SeatPrices;
}

export const handlersOf = ({ seatPrices }: HandlersSetUp): AllHandlers => ({
  session: peopleHandlers.session,
  orgs: peopleHandlers.orgs,
  members: peopleHandlers.members,
  invitations: peopleHandlers.invitations,
  policy: peopleHandlers.policy,
  teams: { ...peopleHandlers.teams, projects: boardHandlers.teamProjects },
  devices: peopleHandlers.devices,
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
  activity: signalsHandlers.activity,
  audit: signalsHandlers.audit,
  broadcasts: signalsHandlers.broadcasts,
  notifications: signalsHandlers.notifications,
  gamification: gamificationHandlers.gamification,
  billing: billingHandlers(seatPrices).billing,
  admin: platformHandlers.admin,
});

/** With what an installation has that sets nothing. */
export const handlers = handlersOf({ seatPrices: defaultSeatPrices });

/** What follows from events, in the transaction in which they happened. */
export const reactions: readonly Reaction[] = [runReactions, executionReactions, notify];

const isHandler = (node: object): node is Handler => 'operation' in node && isOperation(node.operation);

function* flatten(node: object): Generator<Handler> {
  for (const child of Object.values(node) as object[]) {
    if (isHandler(child)) yield child;
    else yield* flatten(child);
  }
}

const named = (handlers: object): ReadonlyMap<string, Handler> =>
  new Map([...flatten(handlers)].map((handler) => [handler.operation.name, handler]));

/** Handlers by the name of their operation. */
export const byName = (all: AllHandlers): ReadonlyMap<string, Handler> => named(all);

/** What handlers may perform: the whole API, and what only they may ask of one another. */
export const performable = (all: AllHandlers): ReadonlyMap<string, Handler> =>
  named({ ...all, insideHandlers });

export const handlersByName = byName(handlers);
